// Enqueues jobs for due timers, and wakes for the next due time (architecture §7). Every worker scans, by the deployment's one clock.

import type { JobQueue } from '../../application/ports/jobs.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import { fireNextPage } from './groupFiring.ts';
import { nextDueByClock, nextDueMs, type TimerKinds, takeDueTimers } from './timerTable.ts';

/** Longest sleep. It covers timers set by other processes, and timers of accounts whose test clock is ahead (see PAUSE_MS_PER_CLOCK). */
const LOOK_MS = 1_000;
const BATCH = 500;
/** Pause before the scan checks due timers again that it skipped, because another scan takes them or a reaction changes them. */
const LOCKED_MS = 50;
/**
 * The pause after a check of all test clocks grows with their number, so that at most 2,000 are checked in a second. Each takes three
 * buffers. A timer that is set meanwhile is found after the pause. Timers found before wake the scan when they are due.
 */
const PAUSE_MS_PER_CLOCK = 0.5;

export class TimerScan {
  readonly #db: SqlPool;
  readonly #jobs: JobQueue;
  readonly #kinds: TimerKinds;
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;
  readonly #mayWork: () => boolean;
  #scanning: Repeating | null = null;
  #stopped = false;
  /** When timers of accounts whose test clock is ahead fall due next, in real time, as of the last look at the clocks. */
  #clocksDueMs = Number.POSITIVE_INFINITY;
  #lookAtClocksFromMs = Number.NEGATIVE_INFINITY;

  /** `mayWork` is called before each scan. Timers that fall due in the meantime are found by a later scan. */
  constructor(
    db: SqlPool,
    jobs: JobQueue,
    kinds: TimerKinds,
    clock: Clock,
    onError: (error: Error) => void,
    mayWork: () => boolean = () => true,
  ) {
    this.#db = db;
    this.#jobs = jobs;
    this.#kinds = kinds;
    this.#clock = clock;
    this.#onError = onError;
    this.#mayWork = mayWork;
  }

  start(): void {
    this.#scanning = repeating(LOOK_MS, () => this.#scan(), { onError: this.#onError });
    this.nudge('');
  }

  /** Wakes the scan by `dueAt` (account time, which is never behind real time), or at once for ''. */
  nudge(dueAt: string): void {
    this.#scanning?.within(dueAt === '' ? 0 : Date.parse(dueAt) - this.#clock.now());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#scanning?.stop();
  }

  async #scan(): Promise<void> {
    if (!this.#mayWork()) return;
    if (this.#clock.now() >= this.#lookAtClocksFromMs) await this.#lookAtClocks();
    const byClock = this.#clocksDueMs <= this.#clock.now();
    // A page at a time, so that other timers never wait for a large group.
    do {
      while ((await this.#dispatch(byClock)) === BATCH && !this.#stopped);
    } while (!this.#stopped && (await fireNextPage(this.#db)));
    if (byClock) await this.#lookAtClocks();
    const leftMs =
      Math.min(await nextDueMs(this.#db, this.#clock.now(), this.#kinds), this.#clocksDueMs) - this.#clock.now();
    this.#scanning?.within(leftMs > 0 ? leftMs : LOCKED_MS);
  }

  async #lookAtClocks(): Promise<void> {
    const { dueMs, clocks } = await nextDueByClock(this.#db, this.#kinds);
    this.#clocksDueMs = dueMs;
    this.#lookAtClocksFromMs = this.#clock.now() + PAUSE_MS_PER_CLOCK * clocks;
  }

  #dispatch(byClock: boolean): Promise<number> {
    return this.#db.transaction(async (tx) => {
      const due = await takeDueTimers(tx, this.#clock.now(), BATCH, this.#kinds, byClock);
      if (due.length > 0) await this.#jobs.enqueue(due.map(this.#kinds.jobOf), tx);
      return due.length;
    });
  }
}
