// Retry-After of a 429 or 503 (RFC 9110 §10.2.3): seconds or one of the three HTTP dates (rule W3).
import { DAY_MS } from '../../domain/kernel/time.ts';

const SECONDS = /^\d+$/;
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Milliseconds from `nowMs` (Unix time), 1 to 24 h. null when the status gives the header no weight, when it is absent
 * or unreadable, and when it names no time ahead (0 seconds, a date gone by): the ordinary backoff applies then.
 */
export function retryAfterMs(statusCode: number, header: unknown, nowMs: number): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  if (typeof header !== 'string') return null;
  const delayMs = SECONDS.test(header) ? Number(header) * 1_000 : httpDateMs(header) - nowMs;
  return delayMs > 0 ? Math.min(delayMs, DAY_MS) : null;
}

/** Unix time in ms, NaN when it is no HTTP date. asctime has no zone of its own: it is GMT. */
function httpDateMs(text: string): number {
  if (IMF_FIXDATE.test(text) || RFC_850.test(text)) return Date.parse(text);
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
