/** The value, or null as soon as the signal is given: a subscription ends at once, whatever the server does. */
export const raceAbort = async <T>(value: Promise<T | null>, signal: AbortSignal): Promise<T | null> => {
  value.catch(() => undefined);
  if (signal.aborted) return null;
  let stop: () => void = () => undefined;
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([value, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
