// A Postgres session that leads: it holds the leadership lock, and what the leader writes goes through it, so that a leader that
// lost its lock can't commit (architecture §6).
import type { Sql } from './sql.ts';

export interface LeaderSession extends Sql {
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Takes the lock if nobody holds it. It is held until the session ends, in whatever way. */
  tryLead(role: string): Promise<boolean>;
  /** Rejects when the connection is gone. Never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

/** Sessions of derived data do not wait for the disk: after a crash they go on from the last checkpoint that reached it. */
export type OpenLeaderSession = (role: string) => Promise<LeaderSession>;
