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

const ROUNDS = 20;
const WORK = JSON.stringify(Array.from({ length: 4_000 }, (_, n) => ({ [`key ${n}`]: [n, 'a value', null] })));
/** What all rounds took on the machine on which bounds in CPU were set. */
const WORK_MS = 65;

/** Returns how much CPU of this machine, as fast as it is now, so many ms of that one are: never less. */
export const cpuMsHere = (ms: number): number => {
  const before = threadCpuMs();
  for (let round = 0; round < ROUNDS; round++) JSON.stringify(JSON.parse(WORK));
  return ms * Math.max(1, (threadCpuMs() - before) / WORK_MS);
};
