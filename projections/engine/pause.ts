/** Resolves after `ms` milliseconds, or on the signal. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });

/** Resolves in a later turn of the event loop, after data written to sockets was sent. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
