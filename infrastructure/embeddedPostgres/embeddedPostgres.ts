// A private PostgreSQL for one program: `npm start` without a database server (architecture §9, rules S4 and S5).

import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { adoptServer } from './adopt.ts';
import { locateBinaries } from './binaries.ts';
import {
  exists,
  type Layout,
  loadSettings,
  openDataDir,
  removeUnfinished,
  type Settings,
  storeSettings,
  wrongPassword,
} from './dataDir.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { type Guard, retireGuard, spawnGuard } from './guard.ts';
import { initialiseCluster } from './initdb.ts';
import { isWrongPassword, launchServer, ping, type RunningServer, type ServerContext } from './launch.ts';
import { lockDirectory } from './locks.ts';
import { assertReachable, serverUser } from './osUser.ts';
import { findOccupant, type Postmaster, stopPostmaster } from './postmaster.ts';
import { connectionStringOf, isSafe, openSocketDir, removeSocketDir } from './socketDir.ts';

export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './error.ts';
export { acquireInstanceLock, type InstanceLock } from './locks.ts';

const WATCH_EVERY_MS = 1_000;

export interface EmbeddedPostgres {
  /** postgres://quita:password@%2Ffolder%2Fof%2Fthe%2Fsocket:5432/quita, an ordinary role that owns this database. Secret. */
  readonly connectionString: string;
  /** Whether the server was already running: the orphan of a killed program. */
  readonly adopted: boolean;
  /** Requests a fast shutdown, and after 20 s an immediate one. A second call returns the same promise. */
  stop(): Promise<void>;
}

/**
 * Starts the database in `dataDir`, or adopts a server that a killed program left running. Creates the directory and the
 * database if they are missing (about one second). When the promise resolves, this program is the only owner of the directory
 * and the server accepts connections. If this program dies in any way, the server shuts down by itself.
 * `instead`: PostgreSQL settings that replace the defaults when the data may be lost (tests).
 * Throws EmbeddedPostgresError; then no process runs that was not running before.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log?: (line: string) => void;
  instead?: Readonly<Record<string, string>>;
}): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const layout = await openDataDir(options.dataDir);
  const directoryLock = await lockDirectory(layout);
  try {
    const server = await startOwned(layout, log, options.instead ?? {});
    let stopped: Promise<void> | undefined;
    return {
      connectionString: server.connectionString,
      adopted: server.adopted,
      stop: () => {
        stopped ??= server.stop().finally(() => directoryLock.release());
        return stopped;
      },
    };
  } catch (error) {
    directoryLock.release();
    throw error;
  }
}

/** Continues the start once this program owns the directory. */
const startOwned = async (
  layout: Layout,
  log: (line: string) => void,
  instead: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> => {
  const osUser = await serverUser(layout);
  await assertReachable(layout, osUser);
  for (const path of await removeUnfinished(layout)) log(`could not remove ${path}; the next start tries again`);
  const settings = await loadSettings(layout);
  const binaries = await locateBinaries(osUser);
  const context: ServerContext = { layout, binaries, osUser, log, instead };
  if (await exists(layout.clusterDir)) await assertSameMajor(layout, binaries.major);
  else await initialiseCluster(layout, settings, binaries, osUser, log);

  const adopted = await adoptServer(context, settings);
  try {
    if (adopted === null) await retireGuard(settings.guardPid, layout.clusterDir);
    return await startGuarded(context, adopted, settings);
  } finally {
    await adopted?.lock.release();
  }
};

/** PostgreSQL can't open the files of another major version. Each release has the binaries of one. */
const assertSameMajor = async ({ clusterDir }: Layout, major: string): Promise<void> => {
  const found = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (found === null || found.trim() === major) return; // without the file, PostgreSQL itself reports the problem
  throw new EmbeddedPostgresError(
    'other_major',
    `The database in ${clusterDir} was created by PostgreSQL ${found.trim()}, but this release has PostgreSQL ${major}. ` +
      `With the release that created it, run: npm run dump -- --out quita.dump. Then move ${clusterDir} away and run with this release: ` +
      'npm run restore -- --from quita.dump (docs/upgrading.md)',
  );
};

const startGuarded = async (
  context: ServerContext,
  adopted: RunningServer | null,
  known: Settings,
): Promise<EmbeddedPostgres> => {
  const { layout, osUser } = context;
  const guard = await spawnGuard(layout.clusterDir, osUser);
  try {
    // Stored before the guard watches a server, so that a program that adopts the server knows which guard to retire.
    const socketDir = adopted?.socketDir ?? (await openSocketDir(layout, osUser, known.socketDir));
    const isInside = socketDir === layout.clusterDir;
    const settings: Settings = { ...known, socketDir: isInside ? null : socketDir, guardPid: guard.pid };
    await storeSettings(layout, settings);
    if (adopted === null) {
      const launched = await launchAndProve(context, settings, socketDir, guard);
      return supervise(context, launched, settings, guard, false);
    }
    guard.watch(adopted.postmaster.pid);
    return supervise(context, adopted, settings, guard, true);
  } catch (error) {
    await guard.dismiss();
    throw error;
  }
};

const launchAndProve = async (
  context: ServerContext,
  settings: Settings,
  socketDir: string,
  guard: Guard,
): Promise<RunningServer> => {
  const server = await launchServer(context, socketDir, guard);
  try {
    await ping(connectionStringOf(settings, socketDir));
    return server;
  } catch (error) {
    await stopPostmaster(server.postmaster);
    throw isWrongPassword(codeOf(error)) ? wrongPassword(context.layout) : error;
  }
};

const supervise = (
  context: ServerContext,
  { postmaster, socketDir }: RunningServer,
  settings: Settings,
  guard: Guard,
  adopted: boolean,
): EmbeddedPostgres => {
  const { layout, log } = context;
  const done = `data in ${layout.clusterDir}, log in ${layout.logFile}`;
  log(`PostgreSQL (process ${postmaster.pid}) ${adopted ? 'adopted' : 'started'}, socket in ${socketDir}, ${done}`);
  const watching = whenGone(postmaster, () => {
    log(`PostgreSQL (process ${postmaster.pid}) ended unexpectedly: see ${layout.logFile}`);
    void guard.dismiss(); // another process may soon have the server's pid
  });
  return {
    connectionString: connectionStringOf(settings, socketDir),
    adopted,
    stop: async () => {
      await watching.stop();
      await stopPostmaster(postmaster);
      await removeSocketDir(layout, socketDir);
      await guard.dismiss();
    },
  };
};

/** Calls `act` once when the server has ended, unless the watch was stopped before. */
const whenGone = (postmaster: Postmaster, act: () => void): Repeating => {
  const watching = repeating(WATCH_EVERY_MS, async () => {
    if (!(await postmaster.isGone())) return;
    void watching.stop();
    act();
  });
  return watching;
};

// Command line tools connect to the embedded database of a running program on the same machine.

const notRunning = (dataDir: string, cause?: unknown): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    `No program is running on ${dataDir}. Start it with npm start, or set DATA_DIR or DATABASE_URL.`,
    cause,
  );

/** Returns the connection string of the running database. Starts and changes nothing. Throws EmbeddedPostgresError if none is running. */
export const attachToEmbeddedPostgres = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir);
  await stat(`${path}/postgres.json`).catch((error: unknown) => {
    throw notRunning(path, error);
  });
  const layout = await openDataDir(path);
  const settings = await loadSettings(layout);
  const occupant = await findOccupant(layout.clusterDir);
  if (occupant.kind !== 'live' || !(await isSafe(layout, occupant.socketDir))) throw notRunning(path);
  const connectionString = connectionStringOf(settings, occupant.socketDir);
  await ping(connectionString).catch((error: unknown) => {
    throw notRunning(path, error);
  });
  return connectionString;
};
