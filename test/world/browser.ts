// What a browser sends to the dashboard: the session cookie, and forms with the session’s CSRF token.
import { sessionCookieName } from '../../http/kernel/cookies.ts';
import { CSRF_FIELD, csrfTokenOf } from '../../http/kernel/forms.ts';
import type { CallOptions } from './gateway.ts';

interface Bearer {
  readonly authorization: string;
}
const tokenOf = ({ authorization }: Bearer): string => authorization.slice('Bearer '.length);

/** Returns the cookie header of a session from `logIn`. */
export const cookieOf = (bearer: Bearer): { readonly cookie: string } => ({
  cookie: `${sessionCookieName('http://')}=${tokenOf(bearer)}`,
});

/** Returns a form for `call`. Spread it after `headers`, because it adds its content type. */
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

/** Returns a multipart form as a browser sends it, fields first. Spread it after `headers`. */
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

/** Returns a form with files and the session’s CSRF token. */
export const ownFiles = (bearer: Bearer, files: readonly FormFile[]) =>
  filesForm({ [CSRF_FIELD]: csrfTokenOf(tokenOf(bearer)) }, files);

/** Returns a form with the session’s CSRF token. */
export const ownForm = (bearer: Bearer, fields: Readonly<Record<string, string>> = {}) =>
  formOf({ ...fields, [CSRF_FIELD]: csrfTokenOf(tokenOf(bearer)) });

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' } as const;
const decoded = (text: string): string =>
  text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity as never]);
const attribute = (name: string, tag: string): string => decoded(tag.split(` ${name}="`)[1]?.split('"')[0] ?? '');

/** Returns the inputs, checked boxes and text areas that a browser would send of the page’s form with this action. */
export const fieldsIn = (page: string, action: string): Readonly<Record<string, string>> => {
  const form = page.split('<form ').find((part) => part.includes(`action="${action}"`)) ?? '';
  const tags = (form.split('</form>')[0] as string).matchAll(/<(input|textarea)( [^>]*)>([^<]*)/g);
  return Object.fromEntries(
    [...tags]
      .filter(([, , tag = '']) => !tag.includes('type="checkbox"') || tag.endsWith(' checked'))
      .map(([, kind, tag = '', text = '']) => [
        attribute('name', tag),
        kind === 'input' ? attribute('value', tag) : decoded(text),
      ]),
  );
};
