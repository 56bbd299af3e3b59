// All processes of a deployment use the database's clock. The clocks of two hosts drift apart by seconds, and work that is due by one
// host's clock must not be early by another's (timers, expiry, attempts).

import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { Log } from '../log/log.ts';

interface DatabaseClockOptions {
  readonly db: Sql;
  /** Returns this host's wall clock, which its owner may set: milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Returns this host's monotonic clock: milliseconds since an arbitrary instant. */
  readonly steadyNow: () => number;
  /** Called when this host's clock leaves its bounds, and with null when it is back within them. */
  readonly onFault: (fault: string | null) => void;
  /** Called when the database did not answer. The last offset stays in use. */
  readonly onError: (error: Error) => void;
  /** Interval of the measurements in milliseconds. Default 2,000. */
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;
/** A host whose clock differs from the database's by more than this takes no work. */
export const SKEW_MS_MAX = 2_000;
/** Drift between the wall clock and the steady clock stays below this. If they differ by more, the wall clock was set. */
const JUMP_MS = 100;
/** For steps back up to this, `now()` does not advance, so that time never runs backwards in a process. Larger steps are followed. */
const STEP_BACK_MS_MAX = 1_000;

const ASK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';

export class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** Database clock minus wall clock, while the wall clock agrees with the steady one. */
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

  /** Measures once, then every few seconds until the clock is closed. Rejects if the database does not answer. */
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

  /** Returns why this process must not work, or null if its clock is within 2 s of the database's. */
  fault(): string | null {
    return this.#fault;
  }

  async close(): Promise<void> {
    await this.#measuring?.stop();
  }

  /** Measures the offset now. Rejects if the database does not answer; the last offset then stays in use. */
  async measure(): Promise<void> {
    const { db, wallNow, steadyNow } = this.#options;
    const askedMs = steadyNow();
    const { rows } = await db.query<{ now: number }>(ASK);
    const heardMs = steadyNow();
    const wallMs = wallNow();
    const readMs = steadyNow();
    const wallAheadMs = wallMs - (heardMs + readMs) / 2;
    // The database read its clock between `asked` and `heard`, and this host its own between `heard` and `read`: half of each is uncertain.
    const uncertainMs = (readMs - askedMs) / 2;
    const skewMs = (rows[0] as { now: number }).now - (askedMs + heardMs) / 2 - wallAheadMs;
    const setMs = wallAheadMs - this.#wallAheadMs;
    // Keeps the old offset if the measurement allows it, so that network delays don't move a correct clock.
    const knownMs = Math.abs(setMs) > JUMP_MS ? this.#offsetMs - setMs : this.#offsetMs;
    this.#offsetMs = Math.min(Math.max(knownMs, skewMs - uncertainMs), skewMs + uncertainMs);
    this.#wallAheadMs = wallAheadMs;
    this.#judge(skewMs, uncertainMs);
  }

  /** Returns the wall clock. If it was set since the last measurement, returns the time it would show otherwise. */
  #wallMs(): number {
    const wallMs = this.#options.wallNow();
    const expectedMs = this.#options.steadyNow() + this.#wallAheadMs;
    return Math.abs(wallMs - expectedMs) > JUMP_MS ? expectedMs : wallMs;
  }

  /** Reports only a skew that is certain: a slow answer proves nothing. */
  #judge(skewMs: number, uncertainMs: number): void {
    const leastMs = Math.abs(skewMs) - uncertainMs;
    const fault =
      leastMs > SKEW_MS_MAX
        ? `this machine's clock is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the database's; run NTP on both`
        : null;
    const isNew = (fault === null) !== (this.#fault === null);
    this.#fault = fault;
    if (isNew) this.#options.onFault(fault);
  }
}

/**
 * Opens the clock of a process. If the process's own clock is off, the API keeps answering by the database's clock (and reports that it is
 * not ready), but the process takes no work. Certificates, deadlines of other libraries and logs still use the wrong clock.
 */
export const openClock = (db: Sql, log: Log): Promise<DatabaseClock> =>
  DatabaseClock.open({
    db,
    wallNow: Date.now,
    steadyNow: () => performance.now(),
    onFault: (fault) =>
      fault === null
        ? log.info("this machine's clock is correct again; work resumes")
        : log.error(`${fault}; this process takes no work until the clocks agree`),
    onError: (err) => log.warn({ err }, "the database's clock could not be read"),
  });
