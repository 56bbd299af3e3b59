// One program a data directory, from before initdb until after the last shutdown.
//
// The advisory lock inside the database (below) can't cover the time before there is a database, nor the
// moment in which a guard is replaced. An operating system lock can, and it goes with its process, however that dies.
// Node has no flock(); SQLite, which Node carries, takes the very same kind of lock on an empty file and shields us from
// the traps of POSIX locks (another descriptor of this process being closed drops them: so nothing else here may ever
// open that file). Nothing is written into it.
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { giveToOwner, type Layout } from './dataDir.ts';
import { codeOf, dataDirInUse, dataDirUnreachable } from './error.ts';

const SQLITE_BUSY = 5;
/** A program killed a moment ago may still be dying, and holds its locks until it is dead. */
const DYING_MS_MAX = 1_000;
const RETRY_MS = 50;

interface DirectoryLock {
  release(): void;
}

/** @throws EmbeddedPostgresError data_dir_in_use after 1 s, data_dir_unreachable when the file can't be locked at all */
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

const tryLock = (layout: Layout): DatabaseSync | null => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(layout.lockFile, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    chmodSync(layout.lockFile, 0o600); // whoever could read it could keep it locked
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw dataDirUnreachable(layout.dataDir, `${layout.lockFile} can't be locked (${(error as Error).message})`, error);
  }
};

// The lock inside the database: at most one live program works on it (architecture §9).

/** Key of the session advisory lock, in the space of two integers: 'QUIT', 'A'. Nobody else uses the first one. */
const KEY = [0x51554954, 0x41] as const;
/** A session of a program killed a moment ago may linger until its backend sees the closed socket. */
const LINGERING_MS_MAX = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface InstanceLock {
  /** Gives it back. A second call answers the same promise. */
  release(): Promise<void>;
}

/**
 * Takes the instance lock on a connection of its own and holds it as long as that connection lives.
 * null when another live program still holds it after 2 s.
 * `onLost` is called at most once, when the connection breaks before `release`: from then on another may have the lock.
 * @throws the error of pg when the database can't be reached
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
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
  held = true;
  let released: Promise<void> | undefined;
  return {
    release: () => {
      held = false;
      released ??= client.end();
      return released;
    },
  };
}
