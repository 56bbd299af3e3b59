// Leadership by a session's advisory locks and a lease. The locks end with the connection, in whatever way the process ended. The lease
// ends when the process is frozen or unreachable; the next leader then terminates its session.
import { setTimeout as pause } from 'node:timers/promises';
import type {
  LeaderSession,
  OpenLeaderSession,
  Share,
  SqlResult,
  SqlStatement,
  SqlTransaction,
} from '../../application/ports/sql.ts';
import {
  endStaleLeader,
  joinRole,
  LEASE_TIMINGS,
  type Lease,
  LeaseKeeper,
  type LeaseTimings,
  takeLease,
} from './leases.ts';
import { PgSession, type SessionConfig } from './session.ts';
import { PgShare } from './share.ts';

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
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.#session.transaction(work);
  }
  async tryLead(role: string): Promise<boolean> {
    const lease = await this.#take(role, takeLease);
    if (lease !== null) this.#keeper.hold(lease);
    return lease !== null;
  }
  async tryShare(role: string): Promise<Share | null> {
    const lease = await this.#take(role, joinRole);
    return lease === null ? null : new PgShare(this.#session, role, lease, this.#keeper);
  }
  async close(): Promise<void> {
    await Promise.all([this.#keeper.release(this.#leases), this.#session.close()]);
  }

  /** Tries to take the role. If its leader is stale, ends it first. */
  async #take(role: string, take: typeof takeLease): Promise<Lease | null> {
    const taken = await take(this.#session, role);
    if (taken !== null) return this.#keep(taken);
    const nowMs = performance.now();
    if (nowMs - this.#lookedAtMs < this.#timings.lookMs) return null;
    this.#lookedAtMs = nowMs;
    if (!(await endStaleLeader(this.#session, role, this.#timings.leaseMs))) return null;
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const inherited = await take(this.#session, role);
      if (inherited !== null) return this.#keep(inherited);
      await pause(LOOK_EVERY_MS);
    }
    return null;
  }

  #keep(lease: Lease): Lease {
    this.#leases.add(lease);
    return lease;
  }
}

export const leaderSessions = (config: SessionConfig, timings: LeaseTimings = LEASE_TIMINGS): OpenLeaderSession => {
  const keeper = new LeaseKeeper(config, timings);
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
