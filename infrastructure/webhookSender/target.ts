// The URL of an endpoint: its validation at registration, and the target of its attempts (rules W5, W6).
import { isIP } from 'node:net';
import { classifyAddress, mayDial } from './addressPolicy.ts';

const MAX_URL_LENGTH = 2_048;
const MAX_HOST_LENGTH = 253;
const LOWEST_FREE_PORT = 1_024;

export interface Target {
  /** `https://host[:port]`, as the URL parser normalizes it. */
  readonly origin: string;
  /** Path and query; a fragment is never sent. */
  readonly path: string;
}

export interface Refusal {
  /** One line for the merchant. It contains no part of the URL, only the class of its address. */
  readonly message: string;
}

interface TargetPolicy {
  readonly mode: 'test' | 'live';
  readonly privateAllowed: boolean;
}

/** `allowPrivate`: test endpoints may have private addresses. */
export const policyOf = (mode: TargetPolicy['mode'], allowPrivate: boolean): TargetPolicy => ({
  mode,
  privateAllowed: mode === 'test' && allowPrivate,
});

/** Returns why a URL is rejected, or null. */
export const judged = (url: string, policy: TargetPolicy): Refusal | null => {
  const target = parseTarget(url, policy);
  return isRefusal(target) ? { message: target.message } : null;
};

/** Matches the message for a forbidden literal address. */
export const FORBIDDEN_ADDRESS = /^url must not point to an? .+ address$/;

export const isRefusal = (value: Target | Refusal): value is Refusal => 'message' in value;

// The URL parser drops tabs and newlines, reads `\` as `/` and accepts `https:host`. Such URLs are rejected, because they are ambiguous.
const ABSOLUTE = /^https?:\/\/[^/?#\\\p{Cc}\p{Z}][^\\\p{Cc}\p{Z}]*$/iu;
const USERINFO = /^[a-z]+:\/\/[^/?#]*@/i;
const LABEL = /^[^.]{1,63}$/;

export function parseTarget(text: string, policy: TargetPolicy): Target | Refusal {
  const url = parseUrl(text);
  if (url === null) {
    return { message: `url must be an absolute http or https URL of at most ${MAX_URL_LENGTH} characters` };
  }
  if (USERINFO.test(text)) return { message: 'url must not contain a user name or password' };
  if (policy.mode === 'live' && url.protocol !== 'https:') {
    return { message: 'url must use https: live events are sent over https only' };
  }
  if (url.port !== '' && Number(url.port) < LOWEST_FREE_PORT) {
    return { message: `url must use the default port of its scheme or a port of at least ${LOWEST_FREE_PORT}` };
  }
  return judgeHost(url, policy) ?? { origin: url.origin, path: url.pathname + url.search };
}

function parseUrl(text: string): URL | null {
  if (text.length > MAX_URL_LENGTH || !ABSOLUTE.test(text)) return null;
  return URL.parse(text);
}

// Decimal, octal, hex and short IPv4 forms are already dotted here: the URL parser (WHATWG) normalizes or rejects them.
function judgeHost(url: URL, policy: TargetPolicy): Refusal | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (isIP(host) !== 0) {
    if (mayDial(host, policy.privateAllowed)) return null;
    const found = classifyAddress(host);
    return { message: `url must not point to ${/^[aeiou]/.test(found) ? 'an' : 'a'} ${found} address` };
  }
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  if (name.length > MAX_HOST_LENGTH || !name.split('.').every((label) => LABEL.test(label))) {
    return { message: 'url must have a valid host name' };
  }
  return null;
}
