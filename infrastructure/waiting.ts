// Bounded waiting: timeouts of promises, waiting until a signal, and pauses between retries.
/**
 * Returns the milliseconds to wait after attempt number `attempt` (from 0) failed. They double from 20 ms to 1 s. Half is random, so that
 * processes don't retry in step.
 */
export const backoffMs = (attempt: number): number => {
  const full = Math.min(1_000, 20 * 2 ** Math.min(attempt, 10));
  return full / 2 + (Math.random() * full) / 2;
};

/** Passes the result of `work` on, after `first`. */
const settle = <T>(
  work: Promise<T>,
  first: () => void,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): void => {
  work.then(
    (value) => {
      first();
      resolve(value);
    },
    (error: unknown) => {
      first();
      reject(error);
    },
  );
};

/** Returns the result of `work`, or rejects with `late()` after `ms`. Late work continues, and its result is ignored. */
export const withTimeout = <T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(ms, 1));
    settle(work, () => clearTimeout(timer), resolve, reject);
  });

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
export const raceAbort = <T>(work: Promise<T | null>, signal: AbortSignal): Promise<T | null> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    settle(work, () => signal.removeEventListener('abort', onAbort), resolve, reject);
  });
