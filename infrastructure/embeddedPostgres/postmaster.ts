// A postmaster, our child or an orphan of a former program: who holds the cluster, and how to end it.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './error.ts';
import { becomesTrue, inspectProcess, signal } from './processes.ts';

/** Lines of postmaster.pid (PostgreSQL 18, miscadmin.h: LOCK_FILE_LINE_*), counted from 0. */
const PID_LINE = 0;
const SOCKET_DIR_LINE = 4;
const STATUS_LINE = 7;
const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

export interface PidFile {
  readonly pid: number;
  /** Where it listens; '' before it does. */
  readonly socketDir: string;
  /** 'starting', 'ready' or 'stopping'; '' while the file is being written. */
  readonly status: string;
}

/** Who is in postmaster.pid: nobody, a process that is dead or not the server of this cluster, or a live one. */
export type Occupant = { kind: 'none' } | { kind: 'stale'; pid: number } | ({ kind: 'live' } & PidFile);

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
  // It may have ended between the two looks: then its file went with it.
  const again = await readPidFile(clusterDir);
  if (again === null) return { kind: 'none' };
  return again.pid === file.pid ? { kind: 'stale', pid: file.pid } : findOccupant(clusterDir);
};

/** The server works in its cluster's folder, whatever path leads there; its arguments name it where that can't be seen. */
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

/** A server that is not our child, as findOccupant saw it. */
export const orphan = (pid: number, clusterDir: string): Postmaster => ({
  pid,
  isGone: async () => !(await isServerOf(pid, clusterDir)),
});

/**
 * Fast shutdown (sessions are cut, everything committed is kept); after 20 s an immediate one, which the next start
 * recovers from.
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
  throw new EmbeddedPostgresError('cannot_start', `PostgreSQL (process ${postmaster.pid}) does not stop: end it.`);
};
