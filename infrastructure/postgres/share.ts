// A process's part in a shared role: a lock for each piece of work that it leads, and a look at the other processes (ADR 0020).
import type { Share, Sharer, Sql } from '../../application/ports/sql.ts';
import { type Lease, type LeaseKeeper, LOCK_CLASS, type SharerRow } from './leases.ts';

const PUBLISH = 'UPDATE subscriptions.leaderships SET able = $2 WHERE role = $1 AND pid = $3 AND started_at = $4';
const TAKE = `SELECT name FROM unnest($3::text[]) AS v(name) WHERE pg_try_advisory_lock($1, hashtext($2::text || ' ' || name))`;
const RELEASE = `SELECT pg_advisory_unlock($1, hashtext($2::text || ' ' || name)) FROM unnest($3::text[]) AS v(name)`;

export class PgShare implements Share {
  sharers: readonly Sharer[] = [];
  readonly #session: Sql;
  readonly #role: string;
  readonly #lease: Lease;
  readonly #keeper: LeaseKeeper;
  #looked = Promise.withResolvers<void>();

  /** Holds the lease until the keeper releases it. */
  constructor(session: Sql, role: string, lease: Lease, keeper: LeaseKeeper) {
    this.#session = session;
    this.#role = role;
    this.#lease = lease;
    this.#keeper = keeper;
    keeper.hold(lease, { role, onSharers: (rows) => this.#saw(rows) });
  }

  async publish(able: readonly string[]): Promise<void> {
    const { role, pid, startedAt } = this.#lease;
    await this.#session.query(PUBLISH, [role, able, pid, startedAt]);
  }

  async look(): Promise<void> {
    const rows = await this.#keeper.look(this.#role);
    if (rows !== null) this.#saw(rows);
  }

  looked(): Promise<void> {
    return this.#looked.promise;
  }

  async take(names: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#session.query<{ name: string }>(TAKE, [LOCK_CLASS, this.#role, names]);
    return rows.map(({ name }) => name);
  }

  async release(names: readonly string[]): Promise<void> {
    await this.#session.query(RELEASE, [LOCK_CLASS, this.#role, names]);
  }

  #saw(rows: readonly SharerRow[]): void {
    const isSelf = ({ pid, startedAt }: SharerRow): boolean =>
      pid === this.#lease.pid && startedAt === this.#lease.startedAt;
    const others = rows.filter((row) => !isSelf(row));
    const gone = others.filter(({ isOpen }) => !isOpen);
    const late = others.filter(({ isOpen, isLate }) => isOpen && isLate);
    // A process that was just unfrozen may see itself as late, but it is alive.
    this.sharers = rows
      .filter((row) => isSelf(row) || (row.isOpen && !row.isLate))
      .map((row) => ({ isSelf: isSelf(row), able: row.able }));
    void this.#keeper.clear(late, gone);
    this.#looked.resolve();
    this.#looked = Promise.withResolvers();
  }
}
