// Locks on files, which the operating system releases when their process ends in any way. Node has no flock(); SQLite, which is part of
// Node, takes the same kind of lock on an empty file. POSIX locks are dropped when the process closes any descriptor of the file. SQLite
// handles that, so no other code may open the file. Nothing is written to it.
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/** Locks the file until `close`, and creates a missing one. Returns null if it is locked. Throws if locking is impossible. */
export const tryLockFile = (path: string): { close(): void } | null => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    chmodSync(path, 0o600); // any user who can read the file could keep it locked
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw error;
  }
};
