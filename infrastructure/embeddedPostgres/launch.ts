// A server of our own: its configuration, how it is launched and known to be ready, and its log.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Binaries } from './binaries.ts';
import type { Layout } from './dataDir.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import type { Guard } from './guard.ts';
import { CHILD_ENV, type OsUser, spawnAs } from './osUser.ts';
import { findOccupant, type Postmaster, readPidFile, stopPostmaster } from './postmaster.ts';
import { SOCKET_NUMBER } from './socketDir.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface ServerContext {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly osUser: OsUser | null;
  readonly log: (line: string) => void;
  /** Settings of a server to be launched that replace the usual ones. */
  readonly instead: Readonly<Record<string, string>>;
}

export interface RunningServer {
  readonly postmaster: Postmaster;
  /** The folder of the socket that it listens on. */
  readonly socketDir: string;
}

/** Proves that a new session is accepted with our password. @throws the error of pg */
export const ping = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined); // the query below rejects as well
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** SQLSTATE class 28: the server is there, and our password is not its own. */
export const isWrongPassword = (code: string): boolean => code.startsWith('28');

/** How long children of a killed server may hold its shared memory. */
const RETRY_FOR_MS = 15_000;
const RETRY_EVERY_MS = 100;
/** How long a starting or recovering server may say nothing; while it recovers, it reports every 10 s. */
export const SILENCE_MS = 60_000;
const STILL_HELD = /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/;

/** `guard` watches the new server from the moment it exists. @throws EmbeddedPostgresError cannot_start */
export const launchServer = async (context: ServerContext, socketDir: string, guard: Guard): Promise<RunningServer> => {
  const { layout } = context;
  const deadline = performance.now() + RETRY_FOR_MS;
  for (;;) {
    const offset = await logSize(layout.logFile);
    const postmaster = await spawnServer(context, socketDir, guard);
    const outcome = await waitUntilReady(context, postmaster);
    if (outcome === 'ready') return { postmaster, socketDir };
    if (outcome === 'silent') await stopPostmaster(postmaster);
    guard.watch(null);
    const said = await readServerLog(layout.logFile, offset);
    const mayPass = outcome === 'gone' && STILL_HELD.test(said);
    if (!mayPass || performance.now() >= deadline) throw cannotStart(context, outcome, said);
    await delay(RETRY_EVERY_MS);
  }
};

const cannotStart = ({ layout }: ServerContext, outcome: 'gone' | 'silent', said: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    outcome === 'gone'
      ? `PostgreSQL could not start in ${layout.clusterDir}: ${reasonIn(said)} (more in ${layout.logFile}).`
      : `PostgreSQL in ${layout.clusterDir} was not ready and silent for ${SILENCE_MS / 1000} s: see ${layout.logFile}.`,
  );

const spawnServer = async (context: ServerContext, socketDir: string, guard: Guard): Promise<Postmaster> => {
  const { layout, osUser, binaries, instead } = context;
  const occupant = await findOccupant(layout.clusterDir);
  // PostgreSQL takes a postmaster.pid for stale when no process of its user has that pid. After a reboot or in a
  // container another one often has it, and so has a zombie. This variable, made for pg_ctl, names one more pid that
  // can't be a rival; the server still checks that nobody uses the old shared memory, and replaces the file itself.
  const env = occupant.kind === 'stale' ? { ...CHILD_ENV, PG_GRANDPARENT_PID: String(occupant.pid) } : CHILD_ENV;
  const logFile = await openServerLog(layout.logFile, osUser);
  try {
    const child = spawn(binaries.postgres, serverArguments(layout.clusterDir, socketDir, instead), {
      ...spawnAs(osUser),
      env,
      cwd: '/',
      detached: true, // Ctrl-C and signals to our group are for us: the database is stopped last
      stdio: ['ignore', logFile.fd, logFile.fd],
    });
    if (child.pid !== undefined) guard.watch(child.pid); // in the same breath: a kill -9 finds the guard informed
    await once(child, 'spawn');
    child.unref();
    return asPostmaster(child);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'binaries_unusable',
      `${binaries.postgres} can't be executed: ${(error as Error).message}`,
      error,
    );
  } finally {
    await logFile.close();
  }
};

const asPostmaster = (child: ChildProcess): Postmaster => ({
  pid: child.pid!,
  isGone: async () => child.exitCode !== null || child.signalCode !== null,
});

const waitUntilReady = async (
  { layout }: ServerContext,
  postmaster: Postmaster,
): Promise<'ready' | 'gone' | 'silent'> => {
  let heardAt = performance.now();
  let heard = await logSize(layout.logFile);
  while (performance.now() - heardAt < SILENCE_MS) {
    if (await postmaster.isGone()) return 'gone';
    const file = await readPidFile(layout.clusterDir);
    if (file?.pid === postmaster.pid && file.status === 'ready') return 'ready';
    const size = await logSize(layout.logFile);
    if (size !== heard) heardAt = performance.now();
    heard = size;
    await delay(10);
  }
  return 'silent';
};

// The configuration of the embedded server. On the command line, so that a newer program brings its own with the next
// start, and no file in the data directory has to be migrated.

const CONFIGURATION: Readonly<Record<string, string>> = {
  // Only the socket in its closed folder: whoever can't enter that can't even ask.
  listen_addresses: '',
  unix_socket_permissions: '0700',

  // Facts that were acknowledged survive a power cut. These are the defaults; said aloud because money depends on them.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  // Hot part of a gateway's tables; the rest is the file cache's. Small enough beside Node on a machine of 1 GB.
  shared_buffers: '256MB',
  // 20 a process for a few processes, plus the sessions of an operator.
  max_connections: '60',
  // Nobody can log in as superuser (initdb.ts): a place kept for one would be lost.
  superuser_reserved_connections: '0',
  // Every commit carries full pages after a checkpoint: rare checkpoints and compression halve what is written.
  // 2 GB is also the bound of what a crash recovery has to read again (seconds).
  wal_compression: 'on',
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  // Queries are short and prepared; compiling one costs more than it ever saves.
  jit: 'off',
  // Two cores are shared with Node; a list query that takes both would be felt by every payment.
  max_parallel_workers_per_gather: '0',
  // Solid-state disks: an index scan costs what it reads.
  random_page_cost: '1.1',

  // Queue tables, leases and timers turn over all the time: visit them often, after 5 % instead of 20 % has changed. Their indexes keep
  // what was filled between two visits: of a burst of 1,200 charges 1,470 bytes each at 15 s, 460 at these 3 s, for 0.6 % of a core.
  autovacuum_naptime: '3s',
  autovacuum_vacuum_scale_factor: '0.05',
  // Statistics do not wear out so fast, and each look reads 30,000 rows of a table: while a log was short, a sixth of all that the database
  // did for webhooks.
  autovacuum_analyze_scale_factor: '0.5',

  // Sessions of a killed program end within a second, even in the middle of a long statement.
  client_connection_check_interval: '1s',

  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Details quote rows, and rows hold personal data. The client gets the whole error all the same.
  log_error_verbosity: 'terse',
  // A recovery says every ten seconds how far it is: the start waits as long as it hears that.
  log_startup_progress_interval: '10s',
};

/** In a list that is parted at commas. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `instead`: settings that replace those above. */
export const serverArguments = (
  clusterDir: string,
  socketDir: string,
  instead: Readonly<Record<string, string>>,
): string[] => [
  '-D',
  clusterDir,
  '-p',
  String(SOCKET_NUMBER),
  ...Object.entries({ ...CONFIGURATION, ...instead, unix_socket_directories: quoted(socketDir) }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  ),
];

// postgres.log: what the server says, and how large it is, and why the server did not start.

const ROTATE_AT_BYTES = 16 * 1024 * 1024;

export const logSize = async (logFile: string): Promise<number> =>
  stat(logFile).then(
    (info) => info.size,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return 0;
      throw error;
    },
  );

/** Opened for the server to append to. A log above 16 MB makes room first; one former log is kept. */
const openServerLog = async (logFile: string, osUser: OsUser | null): Promise<FileHandle> => {
  if ((await logSize(logFile)) > ROTATE_AT_BYTES) await rename(logFile, `${logFile}.1`);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(logFile, flags, 0o600);
  if (osUser !== null) await file.chown(osUser.uid, osUser.gid);
  return file;
};

/** What was written since the log had `offset` bytes, at most the last 64 kB. */
const readServerLog = async (logFile: string, offset: number): Promise<string> => {
  const end = await logSize(logFile);
  const start = Math.max(offset, end - 65_536);
  if (end <= start) return '';
  const file = await open(logFile, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** The last reason given for not starting, without its time stamp. */
const reasonIn = (text: string): string => {
  const lines = text.trim().split('\n');
  const fatal = lines.findLast((line) => /\b(FATAL|PANIC):/.test(line));
  return (fatal ?? lines.at(-1) ?? '').replace(/^.*?\b(?=(FATAL|PANIC):)/, '') || 'it gave no reason';
};
