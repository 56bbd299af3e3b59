const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Returns, with what the act resolves to, the CPU in ms of the event loop's longest turn meanwhile: of this thread, whatever others do. */
export const longestTurnOf = async <T>(act: () => Promise<T>): Promise<{ result: T; longestMs: number }> => {
  let [isOver, longestMs, before] = [false, 0, threadCpuMs()];
  const look = (): void => {
    const now = threadCpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  try {
    const result = await act();
    return { result, longestMs };
  } finally {
    isOver = true;
  }
};
