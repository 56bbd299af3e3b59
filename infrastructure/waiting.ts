// Waiting with a bound: the one place for time-outs of promises, for giving up on a signal, and for pauses between tries.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Returns milliseconds to wait before try number `attempt` (from 0) is repeated: doubling from 20 ms to 1 s, half of it random, so that
 * many processes do not come back in step.
 */
export const backoffMs = (attempt: number): number => {
  const full = Math.min(1_000, 20 * 2 ** Math.min(attempt, 10));
  return full / 2 + (Math.random() * full) / 2;
};

/** Returns what `work` gives, or rejects with `late()` when it takes more than `ms`. The work goes on, and its end is ignored. */
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

/** Returns what `work` gives. When that takes more than `ms`, `act` is called once, which may bring it to an end. */
export const whenLate = async <T>(work: Promise<T>, ms: number, act: () => void): Promise<T> => {
  const timer = setTimeout(act, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
};

/** Returns what `work` gives, or null as soon as the signal is given. The work goes on, and its end is ignored. */
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
