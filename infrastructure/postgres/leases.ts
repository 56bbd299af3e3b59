// Leadership as a lease: a row holds the time at which its process last reported to be alive. The advisory locks alone would stay with a
// frozen process, or one that the network has cut off, for as long as its session seems to live. One process leads a role alone, or several
// share it.
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
  /** How often a standby checks for a dead leader. */
  readonly lookMs: number;
}

/** A standby takes over within 7 s of the leader's last renewal; architecture §6 requires 10 s. */
export const LEASE_TIMINGS: LeaseTimings = { renewMs: 1_000, leaseMs: 5_000, lookMs: 500 };

/** The leases `l` whose sessions `a` are connected. */
export const CONNECTED_LEASES = `subscriptions.leaderships l JOIN pg_stat_activity a ON a.pid = l.pid AND a.backend_start = l.started_at`;

/** Takes the lock and the lease in one statement, so that no process can freeze between them. */
const TAKE = `INSERT INTO subscriptions.leaderships AS l (role, pid, started_at, renewed_at)
  SELECT $2::text, pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())), clock_timestamp()
  WHERE pg_try_advisory_lock($1, hashtext($2::text))
  ON CONFLICT (role) DO UPDATE SET pid = excluded.pid, started_at = excluded.started_at, renewed_at = excluded.renewed_at
  RETURNING role, pid, started_at::text AS "startedAt"`;

/**
 * Shares the lock of the role, which keeps a process from leading the role alone. Each process has a row of its own, and holds a lock by
 * the key of that row: a row whose lock is free belongs to a session that has ended.
 */
const JOIN = `INSERT INTO subscriptions.leaderships AS l (role, shares, pid, started_at, renewed_at)
  SELECT $2::text || '/' || pg_backend_pid(), $2::text, pg_backend_pid(),
    (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())), clock_timestamp()
  WHERE pg_try_advisory_lock_shared($1, hashtext($2::text))
    AND pg_try_advisory_lock($1, hashtext($2::text || '/' || pg_backend_pid()))
  ON CONFLICT (role) DO UPDATE SET able = '{}', started_at = excluded.started_at, renewed_at = excluded.renewed_at
  RETURNING role, pid, started_at::text AS "startedAt"`;

/** Terminates only the session that holds the lock now and whose row was not renewed: both may just have changed. */
const END_STALE = `SELECT pg_terminate_backend(k.pid) FROM ${CONNECTED_LEASES}
  JOIN pg_locks k ON k.pid = l.pid AND k.database = a.datid AND k.locktype = 'advisory' AND k.granted
  WHERE l.role = $2::text AND l.renewed_at < clock_timestamp() - $3 * interval '1 ms'
    AND k.classid = $1 AND k.objid = (hashtext($2::text)::bigint & 4294967295)::oid AND k.objsubid = 2`;

/** Returns the processes that share the roles, the oldest first. $1: class of locks, $2: milliseconds of a lease, $3: roles. */
const SHARERS = `SELECT l.role, l.shares, l.able, l.pid, l.started_at::text AS "startedAt",
    NOT pg_try_advisory_xact_lock_shared($1, hashtext(l.role)) AS "isOpen",
    l.renewed_at < clock_timestamp() - $2 * interval '1 ms' AS "isLate"
  FROM subscriptions.leaderships l WHERE l.shares = ANY($3::text[]) ORDER BY l.started_at, l.pid`;

const RENEW = `WITH renewed AS (
    UPDATE subscriptions.leaderships l SET renewed_at = clock_timestamp()
    FROM unnest($4::text[], $5::int[], $6::timestamptz[]) AS v(role, pid, started_at)
    WHERE l.role = v.role AND l.pid = v.pid AND l.started_at = v.started_at)
  ${SHARERS}`;

/** Checks again whether they are late, because this process may have been frozen since the last check. */
const END_LATE = `SELECT pg_terminate_backend(a.pid) FROM ${CONNECTED_LEASES}
  WHERE l.role = ANY($1::text[]) AND l.renewed_at < clock_timestamp() - $2 * interval '1 ms'`;
const FORGET = `DELETE FROM subscriptions.leaderships l USING unnest($1::text[], $2::timestamptz[]) AS v(role, started_at)
  WHERE l.role = v.role AND l.started_at = v.started_at`;

export interface Lease {
  /** The key of its row. */
  readonly role: string;
  readonly pid: number;
  readonly startedAt: string;
}

/** A process that shares a role. */
export interface SharerRow extends Lease {
  readonly shares: string;
  readonly able: readonly string[];
  /** Whether its session is open. */
  readonly isOpen: boolean;
  /** Whether it has not renewed for too long. */
  readonly isLate: boolean;
}

const leaseBy = async (session: Sql, name: string, text: string, role: string): Promise<Lease | null> =>
  (await session.query<Lease>({ name, text, values: [LOCK_CLASS, role] })).rows[0] ?? null;

/** Returns the lease, or null if another session leads or shares the role. */
export const takeLease = (session: Sql, role: string): Promise<Lease | null> =>
  leaseBy(session, 'take_lease', TAKE, role);

/** Returns the lease, or null if another session leads the role alone. */
export const joinRole = (session: Sql, role: string): Promise<Lease | null> =>
  leaseBy(session, 'join_role', JOIN, role);

/** Terminates the session of a leader that did not renew. Returns whether there was one. */
export const endStaleLeader = async (session: Sql, role: string, leaseMs: number): Promise<boolean> =>
  (await session.query({ name: 'end_stale_leader', text: END_STALE, values: [LOCK_CLASS, role, leaseMs] })).rowCount >
  0;

/** A second connection renews if the first one is silent, so that the lease survives. */
const CONNECTIONS_MAX = 2;

type OnSharers = (sharers: readonly SharerRow[]) => void;

/** Renews the leases of this process. It does not use the leaders' own sessions, which may be busy in long transactions. */
export class LeaseKeeper {
  readonly #config: SessionConfig;
  readonly #timings: LeaseTimings;
  /** The leases, each with the role that it shares and the callback after each renewal; null: it leads its role alone. */
  readonly #held = new Map<Lease, { readonly role: string; readonly onSharers: OnSharers } | null>();
  #pool: PgPool | null = null;
  #renewals: Repeating | null = null;
  #renewing = 0;

  constructor(config: SessionConfig, timings: LeaseTimings) {
    const options = `${config.options ?? ''} -c synchronous_commit=off`;
    this.#config = { ...config, application_name: 'quita leases', options };
    this.#timings = timings;
  }

  hold(lease: Lease, shared: { readonly role: string; readonly onSharers: OnSharers } | null = null): void {
    this.#held.set(lease, shared);
    this.#pool ??= new PgPool(this.#config, CONNECTIONS_MAX, () => undefined); // the next renewal connects again
    // A renewal does not wait for the previous one, which may hang.
    this.#renewals ??= repeating(this.#timings.renewMs, () => void this.#renew());
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

  /** Returns the processes that share the role, or null if reading them fails. */
  async look(role: string): Promise<readonly SharerRow[] | null> {
    const values = [LOCK_CLASS, this.#timings.leaseMs, [role]];
    const found = await this.#pool
      ?.query<SharerRow>({ name: 'look_at_sharers', text: SHARERS, values })
      .catch(() => undefined);
    return found?.rows ?? null;
  }

  /** Ends the sessions of sharers that did not renew, and removes the rows of those whose session has ended. Never rejects. */
  async clear(late: readonly SharerRow[], gone: readonly SharerRow[]): Promise<void> {
    const roles = (rows: readonly SharerRow[]): readonly string[] => rows.map(({ role }) => role);
    const work = [
      { rows: late, text: END_LATE, values: [roles(late), this.#timings.leaseMs] },
      { rows: gone, text: FORGET, values: [roles(gone), gone.map(({ startedAt }) => startedAt)] },
    ];
    for (const { rows, text, values } of work)
      if (rows.length > 0) await this.#pool?.query(text, values).catch(() => undefined);
  }

  /** Never rejects: a lease survives a few failed renewals. */
  async #renew(): Promise<void> {
    if (this.#pool === null || this.#renewing >= CONNECTIONS_MAX) return;
    const held = [...this.#held.keys()];
    const shared = [...this.#held.values()].filter((one) => one !== null);
    const values = [
      ...[LOCK_CLASS, this.#timings.leaseMs, shared.map(({ role }) => role)],
      ...[held.map(({ role }) => role), held.map(({ pid }) => pid), held.map(({ startedAt }) => startedAt)],
    ];
    this.#renewing++;
    const found = await this.#pool.query<SharerRow>({ name: 'renew_leases', text: RENEW, values }).catch(() => null);
    this.#renewing--;
    if (found !== null)
      for (const { role, onSharers } of shared) onSharers(found.rows.filter(({ shares }) => shares === role));
  }
}
