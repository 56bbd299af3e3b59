// Launches a server: its configuration, its readiness and its log.

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
  /** PostgreSQL settings that replace the defaults when a server is launched. */
  readonly instead: Readonly<Record<string, string>>;
}

export interface RunningServer {
  readonly postmaster: Postmaster;
  /** Folder of the socket that the server listens on. */
  readonly socketDir: string;
}

/** Opens a session with the connection string's password and closes it. Throws pg's error. */
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

/** Whether the SQLSTATE is of class 28: the server answers but rejects the password. */
export const isWrongPassword = (code: string): boolean => code.startsWith('28');

/** Children of a killed server may hold its shared memory for this long. */
const RETRY_FOR_MS = 15_000;
const RETRY_EVERY_MS = 100;
/** A starting or recovering server may log nothing for this long; while it recovers, it reports every 10 s. */
export const SILENCE_MS = 60_000;
const STILL_HELD = /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/;

/** Launches a server, which `guard` watches from the beginning. Throws EmbeddedPostgresError cannot_start. */
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
      : `PostgreSQL in ${layout.clusterDir} did not become ready and logged nothing for ${SILENCE_MS / 1000} s. See ${layout.logFile}.`,
  );

const spawnServer = async (context: ServerContext, socketDir: string, guard: Guard): Promise<Postmaster> => {
  const { layout, osUser, binaries, instead } = context;
  const occupant = await findOccupant(layout.clusterDir);
  // PostgreSQL treats postmaster.pid as stale if its user has no process with that pid. After a reboot or in a container,
  // another process or a zombie often has it. This variable, intended for pg_ctl, names one more pid that is no rival.
  // The server still checks that the old shared memory is not in use, and replaces the file itself.
  const env = occupant.kind === 'stale' ? { ...CHILD_ENV, PG_GRANDPARENT_PID: String(occupant.pid) } : CHILD_ENV;
  const logFile = await openServerLog(layout.logFile, osUser);
  try {
    const child = spawn(binaries.postgres, serverArguments(layout.clusterDir, socketDir, instead), {
      ...spawnAs(osUser),
      env,
      cwd: '/',
      detached: true, // Ctrl-C and signals to the process group reach only the program, which stops the database last
      stdio: ['ignore', logFile.fd, logFile.fd],
    });
    if (child.pid !== undefined) guard.watch(child.pid); // in the same tick, so that a kill -9 can't come in between
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

// The configuration is passed on the command line. A newer program thus brings its own with the next start, and no file in
// the data directory needs migration.

const CONFIGURATION: Readonly<Record<string, string>> = {
  // Only the socket in its closed folder; no TCP port.
  listen_addresses: '',
  unix_socket_permissions: '0700',

  // Acknowledged data survives a power cut. These are the defaults, stated explicitly because money depends on them.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  // The hot part of a gateway's tables; the file cache holds the rest. Small enough beside Node on a machine with 1 GB.
  shared_buffers: '256MB',
  // 24 per process for a few processes, plus an operator's sessions.
  max_connections: '60',
  // No one can log in as superuser (initdb.ts), so a reserved connection would be wasted.
  superuser_reserved_connections: '0',
  // After a checkpoint, every commit writes full pages. Rare checkpoints and compression halve the amount written.
  // 2 GB also bounds what crash recovery has to read again (seconds).
  wal_compression: 'on',
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  // Queries are short and prepared; compiling one costs more than it saves.
  jit: 'off',
  // Node and PostgreSQL share two cores; a list query that used both would delay every payment.
  max_parallel_workers_per_gather: '0',
  // On solid-state disks, random reads cost about as much as sequential ones.
  random_page_cost: '1.1',

  // Queue tables, leases and timers change constantly: so check often whether to vacuum them (by the thresholds of migration 0031). Indexes
  // keep the space that they fill between two vacuums. After a burst of 1,200 charges, this was 1,470 bytes per charge at 15 s, and 460 at
  // 3 s, for 0.6 % of a core.
  autovacuum_naptime: '3s',

  // Sessions of a killed program end within a second, even in the middle of a long statement.
  client_connection_check_interval: '1s',

  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Details quote rows, and rows hold personal data. The client still gets the whole error.
  log_error_verbosity: 'terse',
  // A recovery reports its progress every ten seconds; the start waits as long as such reports arrive.
  log_startup_progress_interval: '10s',
};

/** Quotes a name for a comma-separated list. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns the server's command line. `instead`: settings that replace those above. */
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

// postgres.log: the server's output, its size, and the reason for a failed start.

const ROTATE_AT_BYTES = 16 * 1024 * 1024;

export const logSize = async (logFile: string): Promise<number> =>
  stat(logFile).then(
    (info) => info.size,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return 0;
      throw error;
    },
  );

/** Opens the log for the server to append to. Rotates a log above 16 MB first; one previous log is kept. */
const openServerLog = async (logFile: string, osUser: OsUser | null): Promise<FileHandle> => {
  if ((await logSize(logFile)) > ROTATE_AT_BYTES) await rename(logFile, `${logFile}.1`);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(logFile, flags, 0o600);
  if (osUser !== null) await file.chown(osUser.uid, osUser.gid);
  return file;
};

/** Returns the text logged after the first `offset` bytes, at most the last 64 kB. */
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

/** Returns the last reason for a failed start, without its timestamp. */
const reasonIn = (text: string): string => {
  const lines = text.trim().split('\n');
  const fatal = lines.findLast((line) => /\b(FATAL|PANIC):/.test(line));
  return (fatal ?? lines.at(-1) ?? '').replace(/^.*?\b(?=(FATAL|PANIC):)/, '') || 'no reason was logged';
};
