// Sends pg-boss what is due now, woken for the nearest due time (architecture §7). Every worker scans, by the one clock of the deployment.
import type { Clock } from '../../application/ports/clock.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { type JobOfTimer, nextDueMs, takeDueTimers } from './timerTable.ts';

/** Longest sleep: covers timers that another process set, and those of accounts whose test clock is ahead. */
const LOOK_MS = 1_000;
const BATCH = 500;

export class TimerScan {
  readonly #db: SqlPool;
  readonly #jobs: JobQueue;
  readonly #jobOf: JobOfTimer;
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;
  readonly #mayWork: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  /** Nudged while a scan was looking: it may have looked before the timer was there. */
  #nudgedAtMs = Number.POSITIVE_INFINITY;
  #scanning: Promise<void> | null = null;
  #stopped = false;

  /** `mayWork`: asked before each scan; what is due meanwhile is found by the first one after. */
  constructor(
    db: SqlPool,
    jobs: JobQueue,
    jobOf: JobOfTimer,
    clock: Clock,
    onError: (error: Error) => void,
    mayWork: () => boolean = () => true,
  ) {
    this.#db = db;
    this.#jobs = jobs;
    this.#jobOf = jobOf;
    this.#clock = clock;
    this.#onError = onError;
    this.#mayWork = mayWork;
  }

  start(): void {
    this.#wakeAt(this.#clock.now());
  }

  /** A timer was set for `dueAt` (account time, which is never behind real time); '' : look at once. */
  nudge(dueAt: string): void {
    const atMs = dueAt === '' ? this.#clock.now() : Date.parse(dueAt);
    if (this.#scanning) this.#nudgedAtMs = Math.min(this.#nudgedAtMs, atMs);
    else if (atMs < this.#wakeAtMs) this.#wakeAt(atMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#scanning;
  }

  #wakeAt(atMs: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#wakeAtMs = atMs;
    const delay = Math.min(Math.max(atMs - this.#clock.now(), 0), LOOK_MS);
    this.#timer = setTimeout(() => {
      this.#scanning ??= this.#scan().then((nextMs) => {
        this.#scanning = null;
        this.#wakeAt(Math.min(nextMs, this.#nudgedAtMs, this.#clock.now() + LOOK_MS));
        this.#nudgedAtMs = Number.POSITIVE_INFINITY;
      });
    }, delay);
  }

  /** When to scan next, as far as the table tells. Never rejects. */
  async #scan(): Promise<number> {
    if (!this.#mayWork()) return Number.POSITIVE_INFINITY;
    try {
      while ((await this.#dispatch()) === BATCH && !this.#stopped);
      return (await nextDueMs(this.#db)) ?? Number.POSITIVE_INFINITY;
    } catch (error) {
      this.#onError(error as Error);
      return Number.POSITIVE_INFINITY;
    }
  }

  async #dispatch(): Promise<number> {
    const due = await this.#db.transaction(async (tx) => {
      const timers = await takeDueTimers(tx, this.#clock.now(), BATCH);
      const jobs = timers.map(this.#jobOf);
      if (jobs.length > 0) await this.#jobs.enqueue(jobs, tx);
      return jobs;
    });
    this.#jobs.wake(due);
    return due.length;
  }
}
