// What to do with a server that is in the data directory already. We own the directory (locks.ts), so its
// program is dead: a live server is an orphan to adopt, a dying one is waited for.
import { setTimeout as delay } from 'node:timers/promises';
import { type Layout, type Settings, wrongPassword } from './dataDir.ts';
import { codeOf, dataDirInUse, EmbeddedPostgresError } from './error.ts';
import { retireGuard } from './guard.ts';
import { isWrongPassword, logSize, ping, type RunningServer, type ServerContext, SILENCE_MS } from './launch.ts';
import { acquireInstanceLock, type InstanceLock } from './locks.ts';
import { findOccupant, orphan, type PidFile, signal } from './postmaster.ts';
import { connectionStringOf, isSafe } from './socketDir.ts';

/** How long a dying server may take, and one that calls itself ready may refuse us. */
const PATIENCE_MS = 15_000;
const AFTER_SIGQUIT_MS = 10_000;
const ASK_EVERY_MS = 20;

/** A live server, and the instance lock inside it, to be released once our guard watches it. */
interface Adopted extends RunningServer {
  readonly lock: InstanceLock;
}

/** null: nobody is there any more, a server can be launched. @throws EmbeddedPostgresError data_dir_in_use, cannot_start */
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
        log(`PostgreSQL (process ${found.pid}) of a former program says '${found.status}': waiting`);
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
    `PostgreSQL (process ${pid}) holds ${layout.clusterDir} and does not answer: end that process (kill -INT ${pid}), then start again.`,
  );

/** Its folder was taken away, and another one may stand there now. */
const unsafe = (layout: Layout, { pid, socketDir }: PidFile): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    `PostgreSQL (process ${pid}) of a former program holds ${layout.clusterDir} and can't be reached in ${socketDir}, which is not its own: end that process (kill -INT ${pid}), then start again.`,
  );

/** An immediate shutdown for what did not finish a fast one: recovery makes up for it. */
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

/** null: it refused us for a reason that passes (starting, stopping, all sessions taken). */
const tryToAdopt = async (context: ServerContext, settings: Settings, found: PidFile): Promise<Adopted | null> => {
  const { layout } = context;
  const { socketDir } = found;
  if (!(await isSafe(layout, socketDir))) throw unsafe(layout, found);
  const connectionString = connectionStringOf(settings, socketDir);
  let lock: InstanceLock | null = null;
  try {
    // The directory is ours already, except on a file system whose locks do nothing. So nothing of a live owner is
    // touched, its guard least of all, before the database itself has said that there is no such owner.
    lock = await acquireInstanceLock(connectionString);
    if (lock === null) throw dataDirInUse(layout.dataDir);
    // The old guard may be about to shut the server down. Once it is dead, a signal it had sent is pending at the
    // postmaster, which takes signals before connections: a session opened from here on proves that there was none.
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
