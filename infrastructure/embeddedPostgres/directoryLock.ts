// One program a data directory, from before initdb until after the last shutdown.
//
// The advisory lock inside the database (instanceLock.ts) can't cover the time before there is a database, nor the
// moment in which a guard is replaced. An operating system lock can, and it goes with its process, however that dies.
// Node has no flock(); SQLite, which Node carries, takes the very same kind of lock on an empty file and shields us from
// the traps of POSIX locks (another descriptor of this process being closed drops them: so nothing else here may ever
// open that file). Nothing is written into it.
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { dataDirInUse, dataDirUnreachable } from './error.ts';
import { giveToOwner, type Layout } from './layout.ts';

const SQLITE_BUSY = 5;
/** A program killed a moment ago may still be dying, and holds its locks until it is dead. */
const PATIENCE_MS = 1_000;
const RETRY_MS = 50;

export interface DirectoryLock {
  release(): void;
}

/** @throws EmbeddedPostgresError data_dir_in_use after 1 s, data_dir_unreachable when the file can't be locked at all */
export const lockDirectory = async (layout: Layout): Promise<DirectoryLock> => {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const held = tryLock(layout);
    if (held !== null) {
      await giveToOwner(layout, layout.lockFile);
      return { release: () => held.close() };
    }
    if (Date.now() >= deadline) throw dataDirInUse(layout.dataDir);
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
