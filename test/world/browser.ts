// What a browser sends to the dashboard: the session's cookie, and forms with the token of the session's pages.
import { sessionCookieName } from '../../http/kernel/cookies.ts';
import { CSRF_FIELD, csrfTokenOf } from '../../http/kernel/forms.ts';
import type { CallOptions } from './gateway.ts';

interface Bearer {
  readonly authorization: string;
}
const tokenOf = ({ authorization }: Bearer): string => authorization.slice('Bearer '.length);

/** The cookie of a session that was begun by `logIn`. */
export const cookieOf = (bearer: Bearer): { readonly cookie: string } => ({
  cookie: `${sessionCookieName('http://')}=${tokenOf(bearer)}`,
});

/** Spread after `headers`: a form adds its content type. */
export const formOf = (fields: Readonly<Record<string, string>>): Pick<CallOptions, 'raw' | 'form'> => ({
  raw: new URLSearchParams(fields).toString(),
  form: true,
});

/** A form of a page of the session. */
export const ownForm = (bearer: Bearer, fields: Readonly<Record<string, string>> = {}) =>
  formOf({ ...fields, [CSRF_FIELD]: csrfTokenOf(tokenOf(bearer)) });
