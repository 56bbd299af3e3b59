// Deletes deliveries WEBHOOK_RETENTION_DAYS after their last event. Real time counts, so advancing a test clock deletes nothing.
import { DAY_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { ExpiredDeliveries } from '../ports/deliveryRetention.ts';
import type { Clock } from '../ports/system.ts';

/** Deliveries per transaction. Appends to a log in the same database wait for it, a few milliseconds. */
const BATCH = 64;
/** Transactions per run. At one run per second, at most 22,000,000 deliveries are deleted per day. */
const BATCHES = 4;
/** Pause after a run that found nothing more to delete. */
const QUIET_MS = MINUTE_MS;

interface Needs {
  readonly expired: ExpiredDeliveries;
  readonly clock: Clock;
  readonly retentionDays: number;
  /** Whether the clock can be trusted. A clock that is far ahead would delete deliveries too early. */
  readonly mayWork: () => boolean;
}

/** Deletes deliveries at a steady pace, so that other work isn't delayed. */
export class DeliveryRetention {
  readonly #needs: Needs;
  #quietUntilMs = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Deletes up to 256 deliveries. */
  async run(): Promise<void> {
    const { expired, clock, retentionDays, mayWork } = this.#needs;
    const now = clock.now();
    if (now < this.#quietUntilMs || !mayWork()) return;
    const recordedBefore = new Date(now - retentionDays * DAY_MS).toISOString().slice(0, 10);
    for (let batches = 0; batches < BATCHES; batches++) {
      const deleted = await expired.deleteSome(recordedBefore, BATCH);
      if (deleted === BATCH) continue;
      if (deleted !== null) this.#quietUntilMs = now + QUIET_MS;
      return;
    }
  }

  /** Returns how many deliveries were deleted since the database was created. */
  deleted(): Promise<number> {
    return this.#needs.expired.deleted();
  }
}
