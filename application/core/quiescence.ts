// Whether a tenant is idle: no job that was begun for it runs or could. The sandbox's flush and the drain of its clock wait for it (rules
// X5, X7).
import type { Stopwatch } from '../ports/clock.ts';
import type { JobQueue } from '../ports/jobs.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { Progress } from '../ports/readModels/progress.ts';
import type { Idle, Job } from './capability.ts';

const LOOK_MS = 250;

interface Moving {
  readonly stopwatch: Stopwatch;
  /** Returns the undo. */
  readonly onMove: (listener: () => void) => () => void;
}

/**
 * Polls for an effect: returns the first result of `look` that is not null; null after `timeoutMs`. It looks at once, at every move, and
 * from time to time, in case a notice was missed.
 */
export const pollUntil = async <T>(
  { stopwatch, onMove }: Moving,
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> => {
  const deadline = stopwatch.elapsedMs() + timeoutMs;
  for (;;) {
    const moved = new AbortController();
    const undo = onMove(() => moved.abort()); // before looking: a move in between is not missed
    try {
      const found = await look();
      if (found !== null) return found;
      if (stopwatch.elapsedMs() >= deadline) return null;
      await stopwatch.pause(LOOK_MS, moved.signal);
    } finally {
      undo();
    }
  }
};

interface QuiescenceNeeds {
  readonly jobs: JobQueue;
  readonly projected: Progress;
  readonly reacted: Progress<string>;
  readonly stopwatch: Stopwatch;
}

export class Quiescence {
  readonly #needs: QuiescenceNeeds;
  readonly #awaited: readonly string[];
  readonly #writers: readonly string[];

  constructor(needs: QuiescenceNeeds, jobs: readonly Pick<Job<never>, 'kind' | 'idle'>[]) {
    this.#needs = needs;
    const named = (wanted: Idle) => jobs.filter(({ idle }) => idle === wanted).map(({ kind }) => kind.name);
    this.#awaited = named('awaited');
    this.#writers = named('writesMessages');
  }

  /** As `pollUntil`; it looks whenever a read model or process moved, or a job ended. */
  until<T>(timeoutMs: number, look: () => Promise<T | null>): Promise<T | null> {
    return pollUntil(
      { stopwatch: this.#needs.stopwatch, onMove: (listener) => this.#onMove(listener) },
      timeoutMs,
      look,
    );
  }

  /** Waits at most `timeoutMs` until no job of the tenant runs or could; timers and retries to come do not count. Returns whether so. */
  async whenIdle(tenant: Tenant, timeoutMs: number): Promise<boolean> {
    const { jobs, reacted } = this.#needs;
    const isIdle = async () => (await jobs.underWay(this.#awaited, tenant)) === 0;
    const look = async () => {
      if (!(await isIdle())) return null;
      // What the last job wrote may start the next one.
      if (!(await reacted.caughtUp(timeoutMs))) return null;
      return (await isIdle()) ? true : null;
    };
    return (await this.until(timeoutMs, look)) === true;
  }

  /**
   * Returns how many jobs have yet to schedule messages of the tenant. Once it is 0, all scheduled messages are in the read models.
   */
  async unwritten(tenant: Tenant, timeoutMs: number): Promise<number> {
    const { jobs, projected, reacted } = this.#needs;
    const hasReacted = await reacted.caughtUp(timeoutMs);
    let unwritten = 0;
    for (const queue of this.#writers) unwritten += await jobs.open(queue, tenant);
    if (unwritten > 0) return unwritten;
    return hasReacted && (await projected.caughtUp(timeoutMs)) ? 0 : 1;
  }

  /** Also called when jobs end, because work that ends without an event moves no read model. */
  #onMove(listener: () => void): () => void {
    const { projected, reacted, jobs } = this.#needs;
    const undo = [projected.onMove(listener), reacted.onMove(listener), jobs.onSettled(listener)];
    return () => {
      for (const one of undo) one();
    };
  }
}
