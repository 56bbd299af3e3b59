// Waits until a tenant is idle, with no job running or ready to run. Used by the sandbox's flush and clock drain (rules X5, X7).
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { JobQueue } from '../ports/jobs.ts';
import type { Progress } from '../ports/readModels/progress.ts';
import type { Stopwatch } from '../ports/system.ts';
import type { Idle, Job } from './capability.ts';

/** Default pause between looks without a move. */
export const LOOK_MS = 250;

export interface Moving {
  readonly stopwatch: Stopwatch;
  /** Returns a function that removes the listener. */
  readonly onMove: (listener: () => void) => () => void;
  /** Pause between looks without a move, because a notice may be missed. Default: 250 ms. */
  readonly lookMs?: number;
}

/** Returns the first result of `look` that is not null, or null after `timeoutMs`. Looks at once, on every move, and every `lookMs`. */
export const pollUntil = async <T>(
  { stopwatch, onMove, lookMs = LOOK_MS }: Moving,
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> => {
  const deadline = stopwatch.elapsedMs() + timeoutMs;
  let moved = new AbortController();
  const undo = onMove(() => moved.abort('moved')); // without a reason, each call makes an error with a stack trace
  try {
    for (;;) {
      moved = new AbortController(); // before looking, so that no move is missed
      const found = await look();
      if (found !== null) return found;
      const leftMs = deadline - stopwatch.elapsedMs();
      if (leftMs <= 0) return null;
      await stopwatch.pause(Math.min(lookMs, leftMs), moved.signal);
    }
  } finally {
    undo();
  }
};

interface QuiescenceNeeds {
  readonly jobs: JobQueue;
  readonly projected: Progress;
  readonly reacted: Progress<string>;
  readonly stopwatch: Stopwatch;
}

export class Quiescence {
  readonly moving: Moving;
  readonly #needs: QuiescenceNeeds;
  readonly #awaited: readonly string[];
  readonly #writers: readonly string[];

  constructor(needs: QuiescenceNeeds, jobs: readonly Pick<Job<never>, 'kind' | 'idle'>[]) {
    this.#needs = needs;
    this.moving = { stopwatch: needs.stopwatch, onMove: (listener) => this.#onMove(listener) };
    const named = (wanted: Idle) => jobs.filter(({ idle }) => idle === wanted).map(({ kind }) => kind.name);
    this.#awaited = named('awaited');
    this.#writers = named('writesMessages');
  }

  /** Like `pollUntil`. Looks whenever a read model or process moves, or a job ends. */
  until<T>(timeoutMs: number, look: () => Promise<T | null>): Promise<T | null> {
    return pollUntil(this.moving, timeoutMs, look);
  }

  /**
   * Waits at most `timeoutMs` until the tenant has no running or ready jobs, and returns whether it has none. Ignores future timers and
   * retries.
   */
  async whenIdle(tenant: Tenant, timeoutMs: number): Promise<boolean> {
    const { jobs, reacted } = this.#needs;
    const isIdle = async () => (await jobs.underWay(this.#awaited, tenant)) === 0;
    const look = async () => {
      if (!(await isIdle())) return null;
      // Events written by the last job may start another one.
      if (!(await reacted.caughtUp(timeoutMs))) return null;
      return (await isIdle()) ? true : null;
    };
    return (await this.until(timeoutMs, look)) === true;
  }

  /**
   * Returns how many jobs may still schedule messages of the tenant. Without such a job it returns 1 while the read models are behind. If
   * it returns 0, the read models contain all scheduled messages.
   */
  async unwritten(tenant: Tenant, timeoutMs: number): Promise<number> {
    const { jobs, projected, reacted } = this.#needs;
    const hasReacted = await reacted.caughtUp(timeoutMs);
    let unwritten = 0;
    for (const queue of this.#writers) unwritten += await jobs.open(queue, tenant);
    if (unwritten > 0) return unwritten;
    return hasReacted && (await projected.caughtUp(timeoutMs)) ? 0 : 1;
  }

  /** Also calls the listener when jobs end, because a job that writes no event moves no read model. */
  #onMove(listener: () => void): () => void {
    const { projected, reacted, jobs } = this.#needs;
    const undo = [projected.onMove(listener), reacted.onMove(listener), jobs.onSettled(listener)];
    return () => {
      for (const one of undo) one();
    };
  }
}
