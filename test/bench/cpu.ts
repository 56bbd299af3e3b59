// CPU time of processes, as Linux counts it. On a shared machine it is more reliable than elapsed time.
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds of a tick of /proc (USER_HZ). */
const TICK_MS = 10;

interface Usage {
  readonly parent: number;
  readonly ownMs: number;
  /** CPU of ended children. */
  readonly endedMs: number;
}

/** Returns null if there is no such process. */
const usageOf = async (pid: number): Promise<Usage | null> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name, in parentheses, may contain any character. The state and the parent follow.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ms = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS;
  return { parent: Number(fields[1]), ownMs: ms(11), endedMs: ms(13) };
};

export const parentOf = async (pid: number): Promise<number> => (await usageOf(pid))?.parent ?? 0;

/** Returns the CPU time of a process in milliseconds, or NaN without /proc. */
export const cpuMsOf = async (pid: number): Promise<number> => (await usageOf(pid))?.ownMs ?? Number.NaN;

/** Returns the CPU time of a process and its children, including ended ones, in milliseconds, or NaN without /proc. */
export const cpuMsWithChildren = async (pid: number): Promise<number> => {
  const own = await usageOf(pid);
  if (own === null) return Number.NaN;
  const others = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const usages = await Promise.all(others.map(usageOf));
  const children = usages.filter((usage) => usage?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.ownMs ?? 0), own.ownMs + own.endedMs);
};
