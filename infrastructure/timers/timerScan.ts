// Sends pg-boss what is due now, woken for the nearest due time (architecture §7). Every worker scans, by the one clock of the deployment.
import type { Clock } from '../../application/ports/clock.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
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
  #scanning: Repeating | null = null;
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
    this.#scanning = repeating(LOOK_MS, () => this.#scan(), { onError: this.#onError });
    this.nudge('');
  }

  /** A timer was set for `dueAt` (account time, which is never behind real time); '' : look at once. */
  nudge(dueAt: string): void {
    this.#scanning?.within(dueAt === '' ? 0 : Date.parse(dueAt) - this.#clock.now());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#scanning?.stop();
  }

  async #scan(): Promise<void> {
    if (!this.#mayWork()) return;
    while ((await this.#dispatch()) === BATCH && !this.#stopped);
    const dueMs = await nextDueMs(this.#db);
    if (dueMs !== null) this.#scanning?.within(dueMs - this.#clock.now());
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
