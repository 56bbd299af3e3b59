const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Returns the act’s result and the CPU time in ms of this thread’s longest event loop turn during it, which doesn’t depend on other
 * processes.
 */
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

const ROUNDS = 20;
const WORK = JSON.stringify(Array.from({ length: 4_000 }, (_, n) => ({ [`key ${n}`]: [n, 'a value', null] })));
/** CPU time of all rounds on the machine where the CPU bounds were set. */
const WORK_MS = 65;

/** Converts ms of CPU time on that machine to this machine at its present speed. Returns at least `ms`. */
export const cpuMsHere = (ms: number): number => {
  const before = threadCpuMs();
  for (let round = 0; round < ROUNDS; round++) JSON.stringify(JSON.parse(WORK));
  return ms * Math.max(1, (threadCpuMs() - before) / WORK_MS);
};
