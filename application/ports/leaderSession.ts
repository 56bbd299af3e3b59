// A Postgres session that holds the leadership lock. The leader writes through it, so that a leader without the lock can't commit
// (architecture §6).
import type { Sql } from './sql.ts';

export interface LeaderSession extends Sql {
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Takes the lock if it is free, and returns whether it did. The lock is held until the session ends for any reason. */
  tryLead(role: string): Promise<boolean>;
  /** Rejects when the connection is lost. Never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

/** Opens a session. Sessions for derived data commit asynchronously: after a crash, work resumes from the last durable checkpoint. */
export type OpenLeaderSession = (role: string) => Promise<LeaderSession>;
