// One program per data directory, from before initdb until after the last shutdown.
//
// The advisory lock inside the database (below) can't cover the time before the database exists, nor the moment when a guard
// is replaced. A lock on a file can.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isLockUnavailable } from '../../application/ports/sql.ts';
import { endSession } from '../postgres/sessionWatch.ts';
import { tryLockFile } from '../system/fileLock.ts';
import { giveToOwner, type Layout } from './dataDir.ts';
import { dataDirInUse, dataDirUnreachable } from './error.ts';

/** A program that was just killed holds its locks until the system has ended it. */
const DYING_MS_MAX = 1_000;
const RETRY_MS = 50;

interface DirectoryLock {
  release(): void;
}

/** Locks the data directory. Throws EmbeddedPostgresError: data_dir_in_use after 1 s, data_dir_unreachable if locking is impossible. */
export const lockDirectory = async (layout: Layout): Promise<DirectoryLock> => {
  const deadline = performance.now() + DYING_MS_MAX;
  for (;;) {
    const held = tryLock(layout);
    if (held !== null) {
      await giveToOwner(layout, layout.lockFile);
      return { release: () => held.close() };
    }
    if (performance.now() >= deadline) throw dataDirInUse(layout.dataDir);
    await delay(RETRY_MS);
  }
};

const tryLock = (layout: Layout): ReturnType<typeof tryLockFile> => {
  try {
    return tryLockFile(layout.lockFile);
  } catch (error) {
    throw dataDirUnreachable(layout.dataDir, `${layout.lockFile} can't be locked (${(error as Error).message})`, error);
  }
};

// The lock inside the database: at most one live program uses it (architecture §9).

/** Key of the session advisory lock, two integers: 'QUIT', 'A'. The first integer is reserved for this lock. */
const KEY = [0x51554954, 0x41] as const;
/** The session of a program that was just killed may linger until its backend sees the closed socket. */
const LINGERING_MS_MAX = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;

export interface InstanceLock {
  /** Releases the lock, within a second even if the server is silent. A second call returns the same promise. */
  release(): Promise<void>;
}

/**
 * Takes the instance lock on its own connection and holds it as long as the connection lives.
 * Returns null if another live program still holds the lock after 2 s.
 * `onLost` is called at most once, if the connection breaks before `release`; from then on another program may hold the lock.
 * Throws pg's error if the database can't be reached.
 */
export async function acquireInstanceLock(
  connectionString: string,
  options: { onLost?: (reason: Error) => void } = {},
): Promise<InstanceLock | null> {
  const client = new pg.Client({
    connectionString,
    application_name: 'quita instance lock',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  let held = false;
  const lost = (reason: Error): void => {
    if (!held) return;
    held = false;
    options.onLost?.(reason);
  };
  client.on('error', lost); // without a handler, a broken connection would end the program
  client.on('end', () => lost(new Error('the connection of the instance lock was closed')));
  try {
    await client.connect();
    await client.query(
      `SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', '0', false),
              set_config('idle_session_timeout', '0', false)`,
      [String(LINGERING_MS_MAX)],
    );
    await client.query('SELECT pg_advisory_lock($1, $2)', [...KEY]);
  } catch (error) {
    await client.end().catch(() => undefined);
    if (isLockUnavailable(error)) return null;
    throw error;
  }
  held = true;
  let released: Promise<void> | undefined;
  return {
    release: () => {
      held = false;
      released ??= endSession(client);
      return released;
    },
  };
}
