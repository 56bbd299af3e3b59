// The retry schedule of deliveries (rule W3).
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/** Delay in ms between attempts n and n + 1, at index n − 1, without jitter. The first attempt is immediate. */
const DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  1 * HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
];

/** Attempts per delivery, including the first. */
export const MAX_ATTEMPTS = DELAYS_MS.length + 1;

/** Fraction by which delays vary at random in both directions, so that a burst of failures is not retried as a burst. */
export const JITTER = 0.2;

/** Longest wait that a Retry-After can request. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

/**
 * Returns the milliseconds from attempt number `failed` (1-based, below MAX_ATTEMPTS) to the next. `random` is in [0, 1). A Retry-After can
 * only prolong the wait: up to 20 % jitter is added to it, and the wait is capped at 24 h.
 */
export const retryDelayMs = (failed: number, random: number, retryAfterMs: number | null): number => {
  const delay = DELAYS_MS[failed - 1];
  if (delay === undefined) throw new RangeError(`attempt ${failed} is the last one`);
  const planned = Math.round(delay * (1 + JITTER * (2 * random - 1)));
  if (retryAfterMs === null) return planned;
  return Math.max(planned, Math.min(Math.round(retryAfterMs * (1 + JITTER * random)), RETRY_AFTER_MAX_MS));
};

/** Returns the longest scheduled delay in milliseconds after attempt number `failed`, or 0 if none follows. */
export const longestDelayMs = (failed: number): number => Math.round((DELAYS_MS[failed - 1] ?? 0) * (1 + JITTER));

/** Returns the earliest scheduled time of attempt `number`, in milliseconds after the first attempt. */
export const earliestMs = (number: number): number =>
  DELAYS_MS.slice(0, number - 1).reduce((sum, delay) => sum + Math.round(delay * (1 - JITTER)), 0);
