// Which endpoints, and hosts of payments' own URLs, keep failing, as this worker sees it. Operational: lost on a restart, and learnt
// again from the next failures.
import { LruMap } from '../../domain/kernel/lruMap.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

/** Failures in a row after which new first attempts wait. Below it, a single hiccup would delay every message behind it. */
const FAILURES_IN_A_ROW = 3;
/** Probes remembered per endpoint. More are not needed: the earliest one decides. */
const PROBES_MAX = 100;
/** Failing ones remembered. Payments may name any number of hosts. */
const TARGETS_MAX = 10_000;

interface Health {
  failures: number;
  /** Delivery id → when its retry, the probe, is due. */
  readonly probes: Map<string, Timestamp>;
}

export class EndpointHealth {
  readonly #endpoints = new LruMap<string, Health>(TARGETS_MAX);

  succeeded(endpointId: string): void {
    this.#endpoints.delete(endpointId);
  }

  /** `nextAttemptAt`: null when no attempt follows. */
  failed(endpointId: string, deliveryId: string, nextAttemptAt: Timestamp | null): void {
    const health = this.#endpoints.get(endpointId) ?? { failures: 0, probes: new Map<string, Timestamp>() };
    health.failures++;
    health.probes.delete(deliveryId);
    if (nextAttemptAt !== null && health.probes.size < PROBES_MAX) health.probes.set(deliveryId, nextAttemptAt);
    this.#endpoints.set(endpointId, health);
  }

  /** When the next probe is due, if a new first attempt has to wait for it; null: it may go (and is the probe if none is left). */
  waitsUntil(endpointId: string, now: Timestamp): Timestamp | null {
    const health = this.#endpoints.get(endpointId);
    if (health === undefined || health.failures < FAILURES_IN_A_ROW) return null;
    let next: Timestamp | null = null;
    for (const [id, dueAt] of health.probes) {
      if (dueAt <= now) health.probes.delete(id);
      else if (next === null || dueAt < next) next = dueAt;
    }
    return next;
  }
}
