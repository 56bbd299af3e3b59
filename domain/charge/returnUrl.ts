// Where a payer goes back to: `metadata.returnUrl` (rule P3).
import type { Json } from '../kernel/json.ts';

export const URL_LENGTH_MAX = 2_048;
/** Without userinfo, which reads like the host: `https://shop.example@evil.example`. */
const HTTP_URL = /^https?:\/\/[^\s/?#\\@]+(?:[/?#][^\s\\]*)?$/i;
/** Control characters, and those that change the direction of text: what a payer reads would not be where the link leads. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}]/u;

export const isReturnUrl = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  value.length <= URL_LENGTH_MAX &&
  HTTP_URL.test(value) &&
  !MISLEADING.test(value) &&
  URL.canParse(value);

export const RETURN_URL_PROBLEM = {
  code: 'invalid_url',
  param: 'metadata.returnUrl',
  message: `must be an http or https URL of at most ${URL_LENGTH_MAX} characters, without userinfo and without control and direction characters`,
} as const;

const WITH_USERINFO = /^\s*https?:[/\\]*[^/\\?#]*@/i;

/** On the charge routes `returnUrl` is metadata like any other, and the page ignores what is no URL. No link may mislead there either. */
export const isMisleadingLink = (value: Json | undefined): boolean =>
  typeof value === 'string' && (WITH_USERINFO.test(value) || (/^\s*https?:/i.test(value) && MISLEADING.test(value)));
