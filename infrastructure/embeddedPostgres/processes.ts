// What the operating system says about a process that need not be our child.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './error.ts';

/** A zombie has ended (no memory, no files, no locks) and waits for its parent to ask. Slow or missing inits leave them. */
export type ProcessState = 'absent' | 'zombie' | 'live';
export interface ProcessInfo {
  readonly state: ProcessState;
  /** The command line; '' when it can't be read. Arguments are separated by NUL on Linux, by blanks elsewhere. */
  readonly commandLine: string;
}
const ABSENT: ProcessInfo = { state: 'absent', commandLine: '' };

export const inspectProcess = (pid: number): Promise<ProcessInfo> =>
  process.platform === 'linux' ? inspectByProc(pid) : inspectByPs(pid);

const inspectByProc = async (pid: number): Promise<ProcessInfo> => {
  let status: string;
  try {
    status = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return ABSENT; // ENOENT, or ESRCH when it goes between open and read
  }
  const letter = status.charAt(status.lastIndexOf(')') + 2); // the name in parentheses may hold anything
  if (letter === 'Z' || letter === 'X') return { state: 'zombie', commandLine: '' };
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return { state: 'live', commandLine };
};

const inspectByPs = (pid: number): Promise<ProcessInfo> =>
  new Promise((resolve) => {
    execFile('ps', ['-ww', '-o', 'stat=', '-o', 'args=', '-p', String(pid)], (_error, stdout) => {
      const line = stdout.trim();
      if (line === '') resolve(ABSENT);
      else if (line.startsWith('Z')) resolve({ state: 'zombie', commandLine: '' });
      else resolve({ state: 'live', commandLine: line.slice(line.indexOf(' ') + 1) });
    });
  });

/** Sends a signal; a process already gone is as good. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
};

/** Asks every 20 ms, for at most `timeoutMs`; answers whether it came true. */
export const becomesTrue = async (question: () => Promise<boolean>, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (await question()) return true;
    if (Date.now() >= deadline) return false;
    await delay(20);
  }
};
