// When a delivery is tried again (rule W3).
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/** At index n − 1: the delay between attempt n and attempt n + 1, without jitter. The first attempt is made at once. */
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

/** Attempts of a delivery, the first one included. */
export const MAX_ATTEMPTS = DELAYS_MS.length + 1;

/** The share by which a delay is shortened or prolonged at random, so that a burst of failures is not retried as a burst. */
export const JITTER = 0.2;

/** Longest wait that a Retry-After can ask for. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

/**
 * Milliseconds until the attempt after attempt number `failed` (1-based, below MAX_ATTEMPTS).
 * `random` is in [0, 1). A Retry-After can only prolong it: up to 20 % is added to what it asks for, nothing taken off, 24 h at most.
 */
export const retryDelayMs = (failed: number, random: number, retryAfterMs: number | null): number => {
  const delay = DELAYS_MS[failed - 1];
  if (delay === undefined) throw new RangeError(`no attempt follows attempt ${failed}`);
  const planned = Math.round(delay * (1 + JITTER * (2 * random - 1)));
  if (retryAfterMs === null) return planned;
  return Math.max(planned, Math.min(Math.round(retryAfterMs * (1 + JITTER * random)), RETRY_AFTER_MAX_MS));
};

/** Longest delay, in milliseconds, that the schedule alone gives after attempt number `failed`; 0 where none follows. */
export const longestDelayMs = (failed: number): number => Math.round((DELAYS_MS[failed - 1] ?? 0) * (1 + JITTER));

/** Earliest that attempt number `number` can come by the schedule alone, in milliseconds after the first one. */
export const earliestMs = (number: number): number =>
  DELAYS_MS.slice(0, number - 1).reduce((sum, delay) => sum + Math.round(delay * (1 - JITTER)), 0);
