// Leadership as a lease: the role's row holds when its leader last reported to be alive. The advisory lock alone would stay with a
// frozen process, or one that the network has cut off, for as long as its session seems to live.
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { PgPool, type SessionConfig } from './session.ts';

/** First key of all Quita advisory locks ("quit" in ASCII). */
export const LOCK_CLASS = 0x71756974;

export interface LeaseTimings {
  /** How often a leader renews. */
  readonly renewMs: number;
  /** Without a renewal for this long, by the database's clock, a leader counts as dead. */
  readonly leaseMs: number;
  /** How often a standby checks for that. */
  readonly lookMs: number;
}

/** A standby takes over within 7 s of the leader's last renewal; architecture §6 requires 10 s. */
export const LEASE_TIMINGS: LeaseTimings = { renewMs: 1_000, leaseMs: 5_000, lookMs: 500 };

/** Takes the lock and the lease in one statement, so that no process can freeze between them. */
const TAKE = `INSERT INTO subscriptions.leaderships AS l (role, pid, started_at, renewed_at)
  SELECT $2::text, pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())), clock_timestamp()
  WHERE pg_try_advisory_lock($1, hashtext($2::text))
  ON CONFLICT (role) DO UPDATE SET pid = excluded.pid, started_at = excluded.started_at, renewed_at = excluded.renewed_at
  RETURNING pid, started_at::text AS "startedAt"`;

/** Terminates only the session that holds the lock now and whose row was not renewed: both may just have changed. */
const END_STALE = `SELECT pg_terminate_backend(k.pid) FROM subscriptions.leaderships l
  JOIN pg_stat_activity a ON a.pid = l.pid AND a.backend_start = l.started_at
  JOIN pg_locks k ON k.pid = l.pid AND k.database = a.datid AND k.locktype = 'advisory' AND k.granted
  WHERE l.role = $2::text AND l.renewed_at < clock_timestamp() - $3 * interval '1 ms'
    AND k.classid = $1 AND k.objid = (hashtext($2::text)::bigint & 4294967295)::oid AND k.objsubid = 2`;

const RENEW = `UPDATE subscriptions.leaderships l SET renewed_at = clock_timestamp()
  FROM unnest($1::text[], $2::int[], $3::timestamptz[]) AS v(role, pid, started_at)
  WHERE l.role = v.role AND l.pid = v.pid AND l.started_at = v.started_at`;

export interface Lease {
  readonly role: string;
  readonly pid: number;
  readonly startedAt: string;
}

/** Returns the lease, or null if another session holds the role. */
export const takeLease = async (session: Sql, role: string): Promise<Lease | null> => {
  const values = [LOCK_CLASS, role];
  const { rows } = await session.query<Omit<Lease, 'role'>>({ name: 'take_lease', text: TAKE, values });
  return rows[0] ? { role, ...rows[0] } : null;
};

/** Terminates the session of a leader that did not renew. Returns whether there was one. */
export const endStaleLeader = async (session: Sql, role: string, leaseMs: number): Promise<boolean> =>
  (await session.query({ name: 'end_stale_leader', text: END_STALE, values: [LOCK_CLASS, role, leaseMs] })).rowCount >
  0;

/** A second connection renews if the first one is silent, so that the lease survives. */
const CONNECTIONS_MAX = 2;

/** Renews the leases of this process. It does not use the leaders' own sessions, which may be busy in long transactions. */
export class LeaseKeeper {
  readonly #config: SessionConfig;
  readonly #renewMs: number;
  readonly #held = new Set<Lease>();
  #pool: PgPool | null = null;
  #renewals: Repeating | null = null;
  #renewing = 0;

  constructor(config: SessionConfig, renewMs: number) {
    const options = `${config.options ?? ''} -c synchronous_commit=off`;
    this.#config = { ...config, application_name: 'quita leases', options };
    this.#renewMs = renewMs;
  }

  hold(lease: Lease): void {
    this.#held.add(lease);
    this.#pool ??= new PgPool(this.#config, CONNECTIONS_MAX, () => undefined); // the next renewal connects again
    // A renewal does not wait for the previous one, which may hang.
    this.#renewals ??= repeating(this.#renewMs, () => void this.#renew());
  }

  /** Stops renewing these leases. If they were the last ones, resolves when all connections are closed. */
  async release(leases: Iterable<Lease>): Promise<void> {
    for (const lease of leases) this.#held.delete(lease);
    if (this.#held.size > 0) return;
    const [renewals, pool] = [this.#renewals, this.#pool];
    [this.#renewals, this.#pool] = [null, null];
    await renewals?.stop();
    await pool?.close();
  }

  /** Never rejects: a lease survives a few failed renewals. */
  async #renew(): Promise<void> {
    if (this.#pool === null || this.#renewing >= CONNECTIONS_MAX) return;
    const held = [...this.#held];
    const values = [held.map(({ role }) => role), held.map(({ pid }) => pid), held.map(({ startedAt }) => startedAt)];
    this.#renewing++;
    await this.#pool.query({ name: 'renew_leases', text: RENEW, values }).catch(() => undefined);
    this.#renewing--;
  }
}
