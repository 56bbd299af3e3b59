// A postmaster, a child of this program or an orphan of a previous one: which process holds the cluster, and how to stop it.

import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, EmbeddedPostgresError } from './error.ts';

/** Lines of postmaster.pid (PostgreSQL 18, miscadmin.h: LOCK_FILE_LINE_*), counted from 0. */
const PID_LINE = 0;
const SOCKET_DIR_LINE = 4;
const STATUS_LINE = 7;
const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

export interface PidFile {
  readonly pid: number;
  /** Folder of the socket; '' before the server listens. */
  readonly socketDir: string;
  /** 'starting', 'ready' or 'stopping'; '' while the file is being written. */
  readonly status: string;
}

/** The process in postmaster.pid: none, stale (dead, or not this cluster's server), or live. */
type Occupant = { kind: 'none' } | { kind: 'stale'; pid: number } | ({ kind: 'live' } & PidFile);

export interface Postmaster {
  readonly pid: number;
  isGone(): Promise<boolean>;
}

export const readPidFile = async (clusterDir: string): Promise<PidFile | null> => {
  const content = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = content.split('\n');
  const pid = Number.parseInt(lines[PID_LINE] ?? '', 10);
  if (!(pid > 0)) return null;
  return { pid, socketDir: lines[SOCKET_DIR_LINE] ?? '', status: (lines[STATUS_LINE] ?? '').trim() };
};

export const findOccupant = async (clusterDir: string): Promise<Occupant> => {
  const file = await readPidFile(clusterDir);
  if (file === null) return { kind: 'none' };
  if (await isServerOf(file.pid, clusterDir)) return { kind: 'live', ...file };
  // The server may have ended after the file was read; then it removed the file.
  const again = await readPidFile(clusterDir);
  if (again === null) return { kind: 'none' };
  return again.pid === file.pid ? { kind: 'stale', pid: file.pid } : findOccupant(clusterDir);
};

/** Whether the process is the cluster's server: its working directory is the cluster; if that is hidden, its arguments name it. */
const isServerOf = async (pid: number, clusterDir: string): Promise<boolean> => {
  const { state, commandLine } = await inspectProcess(pid);
  if (state !== 'live') return false;
  try {
    const [works, cluster] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(clusterDir)]);
    return works.dev === cluster.dev && works.ino === cluster.ino;
  } catch {
    return commandLine.includes('postgres') && commandLine.includes(clusterDir);
  }
};

/** Returns a server that is not a child of this program, as findOccupant reported it. */
export const orphan = (pid: number, clusterDir: string): Postmaster => ({
  pid,
  isGone: async () => !(await isServerOf(pid, clusterDir)),
});

/**
 * Stops the server with a fast shutdown (sessions end, committed data is kept). After 20 s, requests an immediate shutdown,
 * from which the next start recovers.
 */
export const stopPostmaster = async (postmaster: Postmaster): Promise<void> => {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const;
  for (const [name, patienceMs] of steps) {
    if (await postmaster.isGone()) return;
    signal(postmaster.pid, name);
    if (await becomesTrue(() => postmaster.isGone(), patienceMs)) return;
  }
  throw new EmbeddedPostgresError(
    'cannot_start',
    `PostgreSQL (process ${postmaster.pid}) does not stop. End that process.`,
  );
};

// Process information from the operating system, for any process.

/** A zombie has ended (no memory, files or locks), but its parent has not reaped it. Slow or missing init processes leave zombies. */
type ProcessState = 'absent' | 'zombie' | 'live';
interface ProcessInfo {
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
    return ABSENT; // ENOENT, or ESRCH if the process ends between open and read
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

/** Sends a signal. Does nothing if the process has already ended. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
};

/** Asks every 20 ms, for at most `timeoutMs`. Returns whether the answer became true. */
export const becomesTrue = async (question: () => Promise<boolean>, timeoutMs: number): Promise<boolean> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await question()) return true;
    if (performance.now() >= deadline) return false;
    await delay(20);
  }
};
