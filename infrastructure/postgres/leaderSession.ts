// Leadership by a session's advisory lock and a lease. The lock ends with the connection, in whatever way the process ended. The lease
// ends when the process is frozen or unreachable; the next leader then terminates its session.
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaderSession, OpenLeaderSession, Sql, SqlResult, SqlStatement } from '../../application/ports/sql.ts';
import { endStaleLeader, LEASE_TIMINGS, type Lease, LeaseKeeper, type LeaseTimings, takeLease } from './leases.ts';
import { PgSession, type SessionConfig } from './session.ts';

/** A terminated session releases its lock within milliseconds: number of attempts to take it, and their interval. */
const LOOKS_MAX = 20;
const LOOK_EVERY_MS = 50;

class PgLeaderSession implements LeaderSession {
  readonly lost: Promise<never>;
  readonly #session: PgSession;
  readonly #keeper: LeaseKeeper;
  readonly #timings: LeaseTimings;
  readonly #leases = new Set<Lease>();
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(session: PgSession, lost: Promise<never>, keeper: LeaseKeeper, timings: LeaseTimings) {
    this.#session = session;
    this.lost = lost;
    this.#keeper = keeper;
    this.#timings = timings;
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return this.#session.query<Row>(statement, values);
  }
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#session.transaction(work);
  }
  async tryLead(role: string): Promise<boolean> {
    if (await this.#take(role)) return true;
    const nowMs = performance.now();
    if (nowMs - this.#lookedAtMs < this.#timings.lookMs) return false;
    this.#lookedAtMs = nowMs;
    if (!(await endStaleLeader(this.#session, role, this.#timings.leaseMs))) return false;
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      if (await this.#take(role)) return true;
      await pause(LOOK_EVERY_MS);
    }
    return false;
  }
  async close(): Promise<void> {
    await Promise.all([this.#keeper.release(this.#leases), this.#session.close()]);
  }

  async #take(role: string): Promise<boolean> {
    const lease = await takeLease(this.#session, role);
    if (lease === null) return false;
    this.#leases.add(lease);
    this.#keeper.hold(lease);
    return true;
  }
}

export const leaderSessions = (config: SessionConfig, timings: LeaseTimings = LEASE_TIMINGS): OpenLeaderSession => {
  const keeper = new LeaseKeeper(config, timings.renewMs);
  return async (role) => {
    let lose: (error: Error) => void = () => undefined;
    const lost = new Promise<never>((_, reject) => {
      lose = reject;
    });
    lost.catch(() => undefined); // leaders await it; for other sessions, an unhandled rejection must not end the process
    // No statement timeout: a rebuild or a verification may take long, and a leader that hangs shows by its lag.
    const session = await PgSession.open({ ...config, application_name: `quita ${role}`, statement_timeout: 0 }, lose);
    session.client.on('end', () => lose(new Error(`the ${role}'s connection ended`)));
    await session.query("SET synchronous_commit = off; SET timezone = 'UTC'");
    return new PgLeaderSession(session, lost, keeper, timings);
  };
};
