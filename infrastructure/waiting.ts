// Bounded waiting: timeouts of promises, waiting until a signal, and pauses between retries.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Returns the milliseconds to wait after attempt number `attempt` (from 0) failed. They double from 20 ms to 1 s. Half is random, so that
 * processes don't retry in step.
 */
export const backoffMs = (attempt: number): number => {
  const full = Math.min(1_000, 20 * 2 ** Math.min(attempt, 10));
  return full / 2 + (Math.random() * full) / 2;
};

/** Returns the result of `work`, or rejects with `late()` after `ms`. Late work continues, and its result is ignored. */
export const withTimeout = async <T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> => {
  work.catch(() => undefined);
  const settled = new AbortController();
  const timeout = pause(Math.max(ms, 1), undefined, { signal: settled.signal }).then(() => Promise.reject(late()));
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    settled.abort();
  }
};

/** Returns the result of `work`. If it takes longer than `ms`, calls `act` once, for example to cancel it. */
export const whenLate = async <T>(work: Promise<T>, ms: number, act: () => void): Promise<T> => {
  const timer = setTimeout(act, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
};

/** Returns the result of `work`, or null as soon as the signal aborts. The work continues, and its result is ignored. */
export const raceAbort = async <T>(work: Promise<T | null>, signal: AbortSignal): Promise<T | null> => {
  work.catch(() => undefined);
  if (signal.aborted) return null;
  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(
    () => null,
    () => null,
  );
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
  }
};
