// Cookies of the dashboard. The session's cookie holds the same token that programs send as a bearer token.
import type { IncomingMessage } from 'node:http';

/** Returns the cookie's value, or null if it is absent or sent twice: another site of the domain may have set one of them. */
export const cookieIn = ({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null => {
  const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.trim().split('=');
    return key === name ? [value.join('=')] : [];
  });
  return values.length === 1 ? (values[0] as string) : null;
};

interface CookieOptions {
  /** 0 deletes the cookie. */
  readonly maxAgeSeconds: number;
  readonly publicUrl: string;
}

const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:');

/** Returns a Set-Cookie header. Scripts and other sites' forms never see the cookie. */
export const setCookie = (name: string, value: string, { maxAgeSeconds, publicUrl }: CookieOptions): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? '; Secure' : ''}`;

/** With https, browsers accept the cookie only from this very host (RFC 6265bis, __Host-). */
export const sessionCookieName = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-quita_session' : 'quita_session';
