// Access leases in PostgreSQL (ADR 0009). A lease is granted only to a process that has applied the newest change. Each side measures the
// lease's length by its own monotonic clock: the process from before its request, the announcer from after the change was written. So no
// two clocks are compared.
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Stopwatch } from '../../application/ports/system.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

export interface AccessLeaseTimings {
  /** How long a process may answer from memory without a renewal, and the longest wait of an announcement for that process. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** A process that has not been asked for this long releases its lease. */
  readonly idleMs: number;
}
const ACCESS_LEASE_TIMINGS: AccessLeaseTimings = { leaseMs: 2_000, renewMs: 500, idleMs: 10_000 };

/** Fraction of a lease's length that a process uses, because its clock may run slower than another's. */
const TRUSTED_PART = 0.9;
/** Number of changes whose accounts are kept. A process that has missed more clears its whole memory. */
const CHANGES_KEPT = 64;
const PAUSE_MS = 2;
const PAUSE_MS_MAX = 100;
const CHANNEL = 'quita_access';

/**
 * The row lock makes a change wait for the renewals that have not seen it. Later renewals see it, so no lease is granted at an older
 * version once a change is written.
 */
const RENEW = `WITH change AS (SELECT version, accounts FROM operations.access_changes FOR SHARE),
  lease AS (
    INSERT INTO operations.access_leases (process, version, lease_ms) SELECT $1, version, $3 FROM change WHERE version = $2
    ON CONFLICT (process) DO UPDATE SET version = excluded.version, lease_ms = excluded.lease_ms)
  SELECT version, accounts FROM change`;

const CHANGE = `WITH change AS (
    UPDATE operations.access_changes SET version = version + 1,
      accounts = (accounts || $1::text)[greatest(cardinality(accounts) + 2 - ${CHANGES_KEPT}, 1):]
    RETURNING version)
  SELECT version, pg_notify('${CHANNEL}', '') FROM change`;

const BEHIND = 'SELECT max(lease_ms) AS "leaseMs" FROM operations.access_leases WHERE version < $1';
const END = 'DELETE FROM operations.access_leases WHERE version < $1';
const GIVE_BACK = 'DELETE FROM operations.access_leases WHERE process = $1';

interface AccessLeaseOptions {
  readonly db: SqlPool;
  /** Unique for each process. */
  readonly process: string;
  readonly stopwatch: Stopwatch;
  /** This host's wall clock. The monotonic clock may stand still while a machine is suspended. */
  readonly wallNow?: () => number;
  readonly timings?: AccessLeaseTimings;
  /** Called when renewals begin to fail. Until one succeeds, callers are looked up in the database. */
  readonly onError: (error: Error) => void;
}

interface Instant {
  readonly elapsedMs: number;
  readonly wallMs: number;
}

export class PostgresAccessLeases implements AccessLeases {
  readonly #options: AccessLeaseOptions;
  readonly #timings: AccessLeaseTimings;
  readonly #wallNow: () => number;
  readonly #listeners: ((account: AccountId | null) => void)[] = [];
  /** The version up to which all changes are applied; null before the first. */
  #version: number | null = null;
  /** Start of the lease; null without a lease. */
  #since: Instant | null = null;
  #lastAskedMs = Number.NEGATIVE_INFINITY;
  /** Whether the table may hold a lease of this process. */
  #isOnRecord = false;
  #isFailing = false;
  #working: Promise<void> | null = null;
  /** Whether a change was announced during the current renewal. */
  #isOutdated = false;
  #ticking: Repeating | null = null;
  #isClosed = false;

  constructor(options: AccessLeaseOptions) {
    this.#options = options;
    this.#timings = options.timings ?? ACCESS_LEASE_TIMINGS;
    this.#wallNow = options.wallNow ?? Date.now;
  }

  /** Starts following changes, for a process that answers from memory: by notices, and by renewals if notices are lost. */
  async follow(notices: Pick<NotificationListener, 'on'>): Promise<void> {
    await notices.on(CHANNEL, () => this.#heard());
    this.#ticking = repeating(this.#timings.renewMs, () => this.#tick());
  }

  isHeld(): boolean {
    const now = this.#now();
    this.#lastAskedMs = now.elapsedMs;
    const isHeld = this.#since !== null && this.#isWithin(this.#since, now);
    if (!isHeld && this.#ticking !== null && this.#working === null) this.#work(() => this.#renew());
    return isHeld;
  }

  onChange(listener: (account: AccountId | null) => void): void {
    this.#listeners.push(listener);
  }

  async announce(account: AccountId): Promise<void> {
    const { db, stopwatch } = this.#options;
    const { rows } = await db.query<{ version: number }>({ name: 'announce_access', text: CHANGE, values: [account] });
    const { version } = rows[0] as { version: number };
    const startedMs = stopwatch.elapsedMs();
    this.#heard();
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      const { rows: behind } = await db.query<{ leaseMs: number | null }>({
        name: 'access_leases_behind',
        text: BEHIND,
        values: [version],
      });
      const leaseMs = behind[0]?.leaseMs ?? null;
      if (leaseMs === null) return;
      const leftMs = leaseMs - (stopwatch.elapsedMs() - startedMs);
      if (leftMs <= 0) break;
      await stopwatch.pause(Math.min(pauseMs, leftMs));
    }
    // The remaining leases have expired. They are deleted so that the next announcement does not wait for them.
    await db.query({ name: 'end_access_leases', text: END, values: [version] });
  }

  /** Releases the lease, so that no announcement waits for it. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ticking?.stop();
    this.#ticking = null;
    await this.#working;
    await this.#giveBack().catch(() => undefined);
  }

  #tick(): void {
    if (this.#working !== null) return;
    const isIdle = this.#options.stopwatch.elapsedMs() - this.#lastAskedMs > this.#timings.idleMs;
    if (!isIdle) this.#work(() => this.#renew());
    else if (this.#isOnRecord) this.#work(() => this.#giveBack());
  }

  #heard(): void {
    if (this.#working !== null) this.#isOutdated = true;
    else if (this.#isOnRecord) this.#work(() => this.#renew());
  }

  /** Runs one task at a time, so that each sees the version that the previous one applied. */
  #work(work: () => Promise<void>): void {
    if (this.#isClosed) return;
    this.#working = work()
      .then(
        () => {
          this.#isFailing = false;
        },
        (error: Error) => {
          if (!this.#isFailing) this.#options.onError(error);
          this.#isFailing = true;
        },
      )
      .finally(() => {
        this.#working = null;
      });
  }

  /** Applies all announced changes, and then holds a lease. */
  async #renew(): Promise<void> {
    for (;;) {
      this.#isOutdated = false;
      const asked = this.#now();
      this.#isOnRecord = true;
      const { rows } = await this.#options.db.query<{ version: number; accounts: AccountId[] }>({
        name: 'renew_access_lease',
        text: RENEW,
        values: [this.#options.process, this.#version ?? -1, this.#timings.leaseMs],
      });
      const { version, accounts } = rows[0] as (typeof rows)[number];
      if (version === this.#version) {
        this.#since = asked;
        if (!this.#isOutdated) return;
      } else this.#takeIn(version, accounts);
    }
  }

  #takeIn(version: number, accounts: readonly AccountId[]): void {
    const missed = this.#version === null ? Number.NaN : version - this.#version;
    const isKnown = missed > 0 && missed <= accounts.length;
    for (const account of isKnown ? accounts.slice(-missed) : [null])
      for (const listener of this.#listeners) listener(account);
    this.#version = version;
  }

  async #giveBack(): Promise<void> {
    this.#since = null;
    if (!this.#isOnRecord) return;
    await this.#options.db.query({
      name: 'give_back_access_lease',
      text: GIVE_BACK,
      values: [this.#options.process],
    });
    this.#isOnRecord = false;
  }

  #now(): Instant {
    return { elapsedMs: this.#options.stopwatch.elapsedMs(), wallMs: this.#wallNow() };
  }

  #isWithin(since: Instant, now: Instant): boolean {
    const ageMs = Math.max(now.elapsedMs - since.elapsedMs, now.wallMs - since.wallMs);
    return ageMs < this.#timings.leaseMs * TRUSTED_PART;
  }
}
