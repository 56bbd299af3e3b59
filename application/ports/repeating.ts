// The timer loop that all repeated work uses.

export interface Repeating {
  /** Starts a round at once, or after the running one, which may have missed a recent change. Resolves when the new round has ended. */
  now(): Promise<void>;
  /** Starts a round within `ms`, unless a regular one comes sooner. Of several such requests, only the earliest counts. */
  within(ms: number): void;
  /** Starts no further rounds, except those already requested. Resolves when the last round has ended. Never await it in a round. */
  stop(): Promise<void>;
}

interface RepeatingOptions {
  /** Handles errors of a round; the loop continues. Without it, an error is a bug and ends the process, as in any timer. */
  readonly onError?: (error: Error) => void;
}

/**
 * Calls `round` every `everyMs`, for the first time after `everyMs`. Rounds never overlap: a round that is due while another one runs is
 * skipped. The loop doesn't keep the process alive.
 */
export const repeating = (everyMs: number, round: () => unknown, { onError }: RepeatingOptions = {}): Repeating => {
  let running: Promise<void> | null = null;
  let following: Promise<void> | null = null;
  let soon: { readonly atMs: number; readonly timer: NodeJS.Timeout } | null = null;
  let isStopped = false;
  const run = async (): Promise<void> => {
    try {
      await round();
    } catch (error) {
      if (onError === undefined) throw error;
      onError(error as Error);
    }
  };
  const begin = (): Promise<void> => {
    running = run().finally(() => {
      running = null;
    });
    return running;
  };
  const now = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    if (running === null) return begin();
    following ??= running.then(() => {
      following = null;
      return begin();
    });
    return following;
  };
  const beat = setInterval(() => {
    if (running === null) void begin();
  }, everyMs).unref();
  return {
    now,
    within: (ms) => {
      const atMs = performance.now() + ms;
      if (isStopped || ms >= everyMs || (soon !== null && soon.atMs <= atMs)) return;
      clearTimeout(soon?.timer);
      const act = () => {
        soon = null;
        void now();
      };
      soon = { atMs, timer: setTimeout(act, Math.max(ms, 0)).unref() };
    },
    stop: async () => {
      isStopped = true;
      clearInterval(beat);
      clearTimeout(soon?.timer);
      await (following ?? running);
    },
  };
};
