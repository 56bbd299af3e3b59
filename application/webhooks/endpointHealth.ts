// Tracks which endpoints, and hosts of payments' own URLs, keep failing. The counts are shared by all workers and cached here for one
// second (W3).
import type { Timestamp } from '../../domain/kernel/time.ts';
import { boundedCache } from '../ports/boundedCache.ts';
import type { FailingTargets, ProbeRule, TimedAttempt } from '../ports/failingTargets.ts';

/** Fewer than three failures would let a single hiccup delay all later messages. */
export const PROBE_RULE: ProbeRule = { failuresInARow: 3, everySeconds: 60 };

/** How long a cached count is used. If the target starts to fail meanwhile, that costs at most one more failed attempt. */
const KNOWN_FOR_MS = 1_000;
/** Bounds the memory: payments may name any number of hosts. */
const TARGETS_MAX = 10_000;

export class EndpointHealth {
  readonly #targets: Omit<FailingTargets, 'forget'>;
  /** A monotonic clock, in milliseconds. */
  readonly #now: () => number;
  readonly #known = boundedCache<string, { readonly failures: number; readonly atMs: number }>(TARGETS_MAX);
  readonly #reads = new Map<string, Promise<void>>();

  constructor(targets: Omit<FailingTargets, 'forget'>, now: () => number) {
    this.#targets = targets;
    this.#now = now;
  }

  /** Loads the target's number of consecutive failures. Call it before attempting deliveries to the target. */
  async look(target: string): Promise<void> {
    const known = this.#known.get(target);
    if (known !== undefined && this.#now() - known.atMs < KNOWN_FOR_MS) return;
    const read = this.#reads.get(target) ?? this.#read(target).finally(() => this.#reads.delete(target));
    this.#reads.set(target, read);
    await read;
  }

  async #read(target: string): Promise<void> {
    const before = this.#known.get(target);
    const failures = await this.#targets.failuresOf(target);
    // A result recorded during the read is newer than the read.
    if (this.#known.get(target) === before) this.#learn(target, failures);
  }

  /** Returns whether the target keeps failing, according to the cache. */
  isFailing(target: string): boolean {
    return (this.#known.get(target)?.failures ?? 0) >= PROBE_RULE.failuresInARow;
  }

  /** Returns whether the first attempt must wait. If so, it is held back and a timer starts it later. */
  async holds(attempt: TimedAttempt): Promise<boolean> {
    if (!this.isFailing(attempt.group)) return false;
    return (await this.#targets.hold(attempt)) !== null;
  }

  /** Records that an attempt failed. */
  async failed(attempt: TimedAttempt, error: string): Promise<void> {
    this.#learn(attempt.group, await this.#targets.failed(attempt, error));
  }

  /**
   * Records that the target accepted a delivery at `at` (account time). Attempts that were held back become due. `isCurrent`: returns
   * whether deliveries still go where this one went.
   */
  async succeeded(target: string, at: Timestamp, isCurrent: () => Promise<boolean>): Promise<void> {
    // An attempt may outlast the known count, so the target may have failed for another worker meanwhile.
    if (this.#isHealthy(target)) await this.look(target);
    if (this.#isHealthy(target) || !(await isCurrent())) return;
    this.#learn(target, 0);
    await this.#targets.recovered(target, at);
  }

  #isHealthy(target: string): boolean {
    return (this.#known.get(target)?.failures ?? 0) === 0;
  }

  #learn(target: string, failures: number): void {
    this.#known.set(target, { failures, atMs: this.#now() });
  }
}
