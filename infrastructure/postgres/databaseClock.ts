// The one clock of a deployment: the database's. Two hosts never agree to the second for long, and what one of them finds due must not
// be early for the other (timers, expiry, attempts).
import type { Clock } from '../../application/ports/clock.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Log } from '../log/log.ts';

interface DatabaseClockOptions {
  readonly db: Sql;
  /** Of this host: what its owner may set, milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Of this host: what nobody sets, milliseconds since whenever. */
  readonly steadyNow: () => number;
  /** This host's clock is off, or back within bounds (null). Called at each change. */
  readonly onFault: (fault: string | null) => void;
  /** The database could not be asked: the last offset stands. */
  readonly onError: (error: Error) => void;
  /** How often the database is asked. Default 2,000. */
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;
/** Farther from the database's clock a host is not fit for work. */
export const SKEW_MS_MAX = 2_000;
/** The wall clock and the steady one part by drift only; by more, somebody has set the former. */
const JUMP_MS = 100;
/** Steps back up to this are waited out, so that time never runs backwards within a process; the database's own steps are followed. */
const STEP_BACK_MS_MAX = 1_000;

const ASK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';

export class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** To be added to the wall clock, as far as its agreement with the steady one goes. */
  #offsetMs = 0;
  /** Wall clock minus steady clock when the offset was measured. */
  #wallAheadMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #fault: string | null = null;
  #measuring: Repeating | null = null;

  private constructor(options: DatabaseClockOptions) {
    this.#options = options;
    this.#wallAheadMs = options.wallNow() - options.steadyNow();
  }

  /** Measured once, and again every few seconds until it is closed. Rejects when the database can't be asked. */
  static async open(options: DatabaseClockOptions): Promise<DatabaseClock> {
    const clock = new DatabaseClock(options);
    await clock.measure();
    const { everyMs = EVERY_MS, onError } = options;
    clock.#measuring = repeating(everyMs, () => clock.measure(), { onError });
    return clock;
  }

  now(): number {
    const nowMs = Math.round(this.#wallMs() + this.#offsetMs);
    if (nowMs < this.#lastMs && this.#lastMs - nowMs <= STEP_BACK_MS_MAX) return this.#lastMs;
    this.#lastMs = nowMs;
    return nowMs;
  }

  /** Why this process must not work; null: its own clock is within 2 s of the database's. */
  fault(): string | null {
    return this.#fault;
  }

  async close(): Promise<void> {
    await this.#measuring?.stop();
  }

  /** Asks the database now. Rejects when it does not answer: the last offset stands. */
  async measure(): Promise<void> {
    const { db, wallNow, steadyNow } = this.#options;
    const askedMs = steadyNow();
    const { rows } = await db.query<{ now: number }>(ASK);
    const heardMs = steadyNow();
    const wallMs = wallNow();
    const readMs = steadyNow();
    const wallAheadMs = wallMs - (heardMs + readMs) / 2;
    // The database read its clock between asking and hearing, we ours between hearing and reading: half of each is unknown.
    const uncertainMs = (readMs - askedMs) / 2;
    const skewMs = (rows[0] as { now: number }).now - (askedMs + heardMs) / 2 - wallAheadMs;
    const setMs = wallAheadMs - this.#wallAheadMs;
    // As it was, where the answer can be true with it: a host whose clock is right is not moved by the network's whims.
    const knownMs = Math.abs(setMs) > JUMP_MS ? this.#offsetMs - setMs : this.#offsetMs;
    this.#offsetMs = Math.min(Math.max(knownMs, skewMs - uncertainMs), skewMs + uncertainMs);
    this.#wallAheadMs = wallAheadMs;
    this.#judge(skewMs, uncertainMs);
  }

  /** The wall clock, unless it was set since the last measurement: then what it would have come to. */
  #wallMs(): number {
    const wallMs = this.#options.wallNow();
    const expectedMs = this.#options.steadyNow() + this.#wallAheadMs;
    return Math.abs(wallMs - expectedMs) > JUMP_MS ? expectedMs : wallMs;
  }

  /** Only what is off for certain: a slow answer proves nothing. */
  #judge(skewMs: number, uncertainMs: number): void {
    const leastMs = Math.abs(skewMs) - uncertainMs;
    const fault =
      leastMs > SKEW_MS_MAX
        ? `the clock of this machine is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the database's: run NTP on both`
        : null;
    const isNew = (fault === null) !== (this.#fault === null);
    this.#fault = fault;
    if (isNew) this.#options.onFault(fault);
  }
}

/**
 * Opens the clock of a process. A process whose own clock is off goes on by the database's where it must answer (the API says that it
 * is not ready), and takes no work meanwhile: what it does not do by our clock (certificates, deadlines of other libraries, logs)
 * would be wrong.
 */
export const openClock = (db: Sql, log: Log): Promise<DatabaseClock> =>
  DatabaseClock.open({
    db,
    wallNow: Date.now,
    steadyNow: () => performance.now(),
    onFault: (fault) =>
      fault === null
        ? log.info('the clock of this machine is right again: work goes on')
        : log.error(`${fault}; this process takes no work until then`),
    onError: (err) => log.warn({ err }, 'the clock of the database could not be read'),
  });
