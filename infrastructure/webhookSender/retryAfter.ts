// Retry-After of a 429 or 503 (RFC 9110 §10.2.3): seconds or one of the three HTTP dates (rule W3).
import { DAY_MS } from '../../domain/kernel/time.ts';

const SECONDS = /^\d+$/;
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Returns the delay in milliseconds from `nowMs` (Unix time), from 1 ms to 24 h. Returns null if the status ignores the header, or the
 * header is absent, unreadable or not in the future; the ordinary backoff then applies.
 */
export function retryAfterMs(statusCode: number, header: unknown, nowMs: number): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  if (typeof header !== 'string') return null;
  const delayMs = SECONDS.test(header) ? Number(header) * 1_000 : httpDateMs(header) - nowMs;
  return delayMs > 0 ? Math.min(delayMs, DAY_MS) : null;
}

/** Returns the Unix time in ms, or NaN if the text is not an HTTP date. asctime has no zone; it means GMT. */
function httpDateMs(text: string): number {
  if (IMF_FIXDATE.test(text) || RFC_850.test(text)) return Date.parse(text);
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
