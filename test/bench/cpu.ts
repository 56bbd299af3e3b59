// How much CPU processes have used, as Linux counts it: on a machine that others load it says more than the time that passed.
import { readdir, readFile } from 'node:fs/promises';

/** Of a tick of /proc (USER_HZ). */
const TICK_MS = 10;

interface Usage {
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended. */
  readonly endedMs: number;
}

/** null: there is no such process any more. */
const usageOf = async (pid: number): Promise<Usage | null> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name, in parentheses, may hold anything; the state follows, then the parent.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ms = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS;
  return { parent: Number(fields[1]), ownMs: ms(11), endedMs: ms(13) };
};

export const parentOf = async (pid: number): Promise<number> => (await usageOf(pid))?.parent ?? 0;

/** Returns the milliseconds of CPU that a process has used; NaN where there is no /proc. */
export const cpuMsOf = async (pid: number): Promise<number> => (await usageOf(pid))?.ownMs ?? Number.NaN;

/** The same of a process and its children, those that have ended included. */
export const cpuMsWithChildren = async (pid: number): Promise<number> => {
  const own = await usageOf(pid);
  if (own === null) return Number.NaN;
  const others = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const usages = await Promise.all(others.map(usageOf));
  const children = usages.filter((usage) => usage?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.ownMs ?? 0), own.ownMs + own.endedMs);
};
