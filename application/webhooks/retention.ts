// Deliveries are kept for WEBHOOK_RETENTION_DAYS after their last event, in real time: a test clock that was advanced makes none older.
import { DAY_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { ExpiredDeliveries } from '../ports/deliveryRetention.ts';

/** Deleted in one transaction, which appends to a log in the same database wait for: a few milliseconds. */
const BATCH = 64;
/** Transactions of one turn. With a turn a second, 22,000,000 deliveries a day are the most that can be deleted. */
const BATCHES = 4;
/** When nothing was left, the next look is so much later. */
const QUIET_MS = MINUTE_MS;

interface Needs {
  readonly expired: ExpiredDeliveries;
  readonly clock: Clock;
  readonly retentionDays: number;
  /** Whether the clock may be trusted: one that is far ahead would delete what is to be kept. */
  readonly mayWork: () => boolean;
}

/** Deletes at a steady pace, so that nobody waits for it. */
export class DeliveryRetention {
  readonly #needs: Needs;
  #quietUntilMs = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** One turn: at most 256 deliveries. */
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

  /** How many deliveries were deleted since the database was made. */
  deleted(): Promise<number> {
    return this.#needs.expired.deleted();
  }
}
