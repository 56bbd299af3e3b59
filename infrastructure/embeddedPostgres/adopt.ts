// Handles a server that already runs in the data directory. This program owns the directory (locks.ts), so the server's
// program is dead. A live server is an orphan and is adopted; a server that is shutting down is waited for.
import { setTimeout as delay } from 'node:timers/promises';
import { type Layout, type Settings, wrongPassword } from './dataDir.ts';
import { codeOf, dataDirInUse, EmbeddedPostgresError } from './error.ts';
import { retireGuard } from './guard.ts';
import { isWrongPassword, logSize, ping, type RunningServer, type ServerContext, SILENCE_MS } from './launch.ts';
import { acquireInstanceLock, type InstanceLock } from './locks.ts';
import { findOccupant, orphan, type PidFile, signal } from './postmaster.ts';
import { connectionStringOf, isSafe } from './socketDir.ts';

/** Longest wait for a server that shuts down, or that reports ready and refuses connections. */
const PATIENCE_MS = 15_000;
const AFTER_SIGQUIT_MS = 10_000;
const ASK_EVERY_MS = 20;

/** A live server, and the instance lock inside it. The lock is released once the new guard watches the server. */
interface Adopted extends RunningServer {
  readonly lock: InstanceLock;
}

/**
 * Returns the adopted server, or null if no server runs and one can be launched.
 * Throws EmbeddedPostgresError: data_dir_in_use, cannot_start.
 */
export const adoptServer = async (context: ServerContext, settings: Settings): Promise<Adopted | null> => {
  const { layout, log } = context;
  let phase = '';
  let deadline = 0;
  let heard = 0;
  for (;;) {
    const found = await findOccupant(layout.clusterDir);
    if (found.kind !== 'live') return null;
    if (found.status === 'ready') {
      const adopted = await tryToAdopt(context, settings, found);
      if (adopted !== null) return adopted;
    }
    const size = await logSize(layout.logFile);
    if (found.status !== phase || (phase === 'starting' && size !== heard)) {
      if (found.status !== phase)
        log(`PostgreSQL (process ${found.pid}) of a previous program reports '${found.status}'; waiting for it`);
      deadline = performance.now() + (found.status === 'starting' ? SILENCE_MS : PATIENCE_MS);
      phase = found.status;
    }
    heard = size;
    if (performance.now() >= deadline) {
      if (phase !== 'stopping') throw unresponsive(context, found);
      await endDying(context, found);
    }
    await delay(ASK_EVERY_MS);
  }
};

const unresponsive = ({ layout }: ServerContext, { pid }: PidFile): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    `PostgreSQL (process ${pid}) holds ${layout.clusterDir} and does not answer. End that process (kill -INT ${pid}), then start again.`,
  );

/** The socket's folder was removed, and another user may have put one in its place. */
const unsafe = (layout: Layout, { pid, socketDir }: PidFile): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    `PostgreSQL (process ${pid}) of a previous program holds ${layout.clusterDir} and can't be reached: its user does not own ${socketDir}. End that process (kill -INT ${pid}), then start again.`,
  );

/** Requests an immediate shutdown if a fast one did not finish. The next start then recovers. */
const endDying = async (context: ServerContext, found: PidFile): Promise<void> => {
  const dying = orphan(found.pid, context.layout.clusterDir);
  if (await dying.isGone()) return;
  signal(found.pid, 'SIGQUIT');
  const deadline = performance.now() + AFTER_SIGQUIT_MS;
  while (!(await dying.isGone())) {
    if (performance.now() >= deadline) throw unresponsive(context, found);
    await delay(ASK_EVERY_MS);
  }
};

/** Returns null if the server refused the connection for a temporary reason (starting, stopping, all sessions in use). */
const tryToAdopt = async (context: ServerContext, settings: Settings, found: PidFile): Promise<Adopted | null> => {
  const { layout } = context;
  const { socketDir } = found;
  if (!(await isSafe(layout, socketDir))) throw unsafe(layout, found);
  const connectionString = connectionStringOf(settings, socketDir);
  let lock: InstanceLock | null = null;
  try {
    // This program already owns the directory, except on a file system whose locks have no effect. So this program touches nothing that a
    // live owner may use, such as its guard, until the database confirms that there is no live owner.
    lock = await acquireInstanceLock(connectionString);
    if (lock === null) throw dataDirInUse(layout.dataDir);
    // The old guard may be about to shut the server down. Once the guard is dead, any signal that it sent is pending, and the
    // postmaster handles signals before connections. A session opened from here on proves that no signal was pending.
    await retireGuard(settings.guardPid, layout.clusterDir);
    await ping(connectionString);
    return { postmaster: orphan(found.pid, layout.clusterDir), socketDir, lock };
  } catch (error) {
    await lock?.release().catch(() => undefined);
    if (error instanceof EmbeddedPostgresError) throw error;
    if (isWrongPassword(codeOf(error))) throw wrongPassword(layout);
    return null;
  }
};
