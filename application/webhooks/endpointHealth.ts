// Which endpoints, and hosts of payments' own URLs, keep failing: what all workers know, asked for as seldom as possible (W3).
import { LRUCache } from 'lru-cache';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { FailingTargets, FirstAttempt, ProbeRule } from '../ports/failingTargets.ts';

/** Below three failures a single hiccup would delay every message behind it. */
export const PROBE_RULE: ProbeRule = { failuresInARow: 3, everySeconds: 60 };

/** How old the answer may be that a target is well: what goes there meanwhile is one more failure at worst. */
const KNOWN_FOR_MS = 1_000;
/** Targets remembered. Payments may name any number of hosts. */
const TARGETS_MAX = 10_000;

interface Known {
  readonly failures: number;
  readonly atMs: number;
}

export class EndpointHealth {
  readonly #targets: FailingTargets;
  /** Milliseconds that only go forward. */
  readonly #now: () => number;
  readonly #known = new LRUCache<string, Known>({ max: TARGETS_MAX });

  constructor(targets: FailingTargets, now: () => number) {
    this.#targets = targets;
    this.#now = now;
  }

  /** To be called before a target's deliveries are attempted. */
  async look(target: string): Promise<void> {
    const before = this.#known.get(target);
    if (before !== undefined && this.#now() - before.atMs < KNOWN_FOR_MS) return;
    const failures = await this.#targets.failuresOf(target);
    // What was heard meanwhile is newer.
    if (this.#known.get(target) === before) this.#learn(target, failures);
  }

  /** Whether the first attempt has to wait: it is held back then, and comes again by itself. */
  async holds(attempt: FirstAttempt): Promise<boolean> {
    if ((this.#known.get(attempt.group)?.failures ?? 0) < PROBE_RULE.failuresInARow) return false;
    return (await this.#targets.hold(attempt)) !== null;
  }

  async failed(attempt: FirstAttempt, error: string): Promise<void> {
    this.#learn(attempt.group, await this.#targets.failed(attempt, error));
  }

  async succeeded(target: string, at: Timestamp): Promise<void> {
    if ((this.#known.get(target)?.failures ?? 0) === 0) return;
    this.#learn(target, 0);
    await this.#targets.recovered(target, at);
  }

  #learn(target: string, failures: number): void {
    this.#known.set(target, { failures, atMs: this.#now() });
  }
}
