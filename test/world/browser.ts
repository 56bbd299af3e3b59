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

export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}
const BOUNDARY = 'quita-form-0123456789';

/** What a browser sends of a form with files: the fields first. Spread after `headers`. */
export const filesForm = (
  fields: Readonly<Record<string, string>>,
  files: readonly FormFile[],
): { readonly raw: Buffer; readonly headers: { readonly 'content-type': string } } => {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => [`form-data; name="${name}"`, null, Buffer.from(value)] as const),
    ...files.map(
      ({ field, name, type, bytes }) => [`form-data; name="${field}"; filename="${name}"`, type, bytes] as const,
    ),
  ];
  const sent = parts.flatMap(([disposition, type, bytes]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\n`),
    Buffer.from(type === null ? '\r\n' : `Content-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
  return {
    raw: Buffer.concat([...sent, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  };
};

/** A form with files of a page of the session. */
export const ownFiles = (bearer: Bearer, files: readonly FormFile[]) =>
  filesForm({ [CSRF_FIELD]: csrfTokenOf(tokenOf(bearer)) }, files);

/** A form of a page of the session. */
export const ownForm = (bearer: Bearer, fields: Readonly<Record<string, string>> = {}) =>
  formOf({ ...fields, [CSRF_FIELD]: csrfTokenOf(tokenOf(bearer)) });
