// Starts a postmaster of our own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './error.ts';
import type { Guard } from './guard.ts';
import { CHILD_ENV, spawnAs } from './osUser.ts';
import { findOccupant, type Postmaster, readPidFile, stopPostmaster } from './postmaster.ts';
import type { RunningServer, ServerContext } from './server.ts';
import { logSize, openServerLog, readServerLog, reasonIn } from './serverLog.ts';
import { serverArguments } from './serverOptions.ts';

/** How long children of a killed server may hold its shared memory. */
const RETRY_FOR_MS = 15_000;
const RETRY_EVERY_MS = 100;
/** How long a starting or recovering server may say nothing; while it recovers, it reports every 10 s. */
export const SILENCE_MS = 60_000;
const STILL_HELD = /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/;

/** `guard` watches the new server from the moment it exists. @throws EmbeddedPostgresError cannot_start */
export const launchServer = async (context: ServerContext, socketDir: string, guard: Guard): Promise<RunningServer> => {
  const { layout } = context;
  const deadline = Date.now() + RETRY_FOR_MS;
  for (;;) {
    const offset = await logSize(layout.logFile);
    const postmaster = await spawnServer(context, socketDir, guard);
    const outcome = await waitUntilReady(context, postmaster);
    if (outcome === 'ready') return { postmaster, socketDir };
    if (outcome === 'silent') await stopPostmaster(postmaster);
    guard.watch(null);
    const said = await readServerLog(layout.logFile, offset);
    const mayPass = outcome === 'gone' && STILL_HELD.test(said);
    if (!mayPass || Date.now() >= deadline) throw cannotStart(context, outcome, said);
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
  let heardAt = Date.now();
  let heard = await logSize(layout.logFile);
  while (Date.now() - heardAt < SILENCE_MS) {
    if (await postmaster.isGone()) return 'gone';
    const file = await readPidFile(layout.clusterDir);
    if (file?.pid === postmaster.pid && file.status === 'ready') return 'ready';
    const size = await logSize(layout.logFile);
    if (size !== heard) heardAt = Date.now();
    heard = size;
    await delay(10);
  }
  return 'silent';
};
