// Sends pg-boss what is due now, woken for the nearest due time (design §7). Runs where the reactor leads: one scan per deployment.
import type { Clock } from '../../application/ports/clock.ts';
import type { JobQueue, QueueName } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { nextDueMs, takeDueTimers } from './timerTable.ts';

/** Longest sleep: covers timers that another process set, and those of accounts whose test clock is ahead. */
const LOOK_MS = 1_000;
const BATCH = 500;

export class TimerScan {
  readonly #db: SqlPool;
  readonly #jobs: JobQueue;
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;
  #timer: NodeJS.Timeout | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  /** Nudged while a scan was looking: it may have looked before the timer was there. */
  #nudgedAtMs = Number.POSITIVE_INFINITY;
  #scanning: Promise<void> | null = null;
  #stopped = false;

  constructor(db: SqlPool, jobs: JobQueue, clock: Clock, onError: (error: Error) => void) {
    this.#db = db;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#onError = onError;
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
      const jobs = timers.map(({ kind, key, group }) => ({ queue: kind, item: key, ...(group !== null && { group }) }));
      if (jobs.length > 0) await this.#jobs.enqueue(jobs, tx);
      return timers;
    });
    this.#jobs.wake(new Set<QueueName>(due.map(({ kind }) => kind)));
    return due.length;
  }
}
