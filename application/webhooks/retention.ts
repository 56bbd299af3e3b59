// Deletes deliveries WEBHOOK_RETENTION_DAYS after their last event. Real time counts, so advancing a test clock deletes nothing.
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { ExpiredDeliveries } from '../ports/deliveryRetention.ts';
import type { Clock, Stopwatch } from '../ports/system.ts';
import { withRests } from '../ports/withRests.ts';

/** Deliveries per transaction. Appends to a log in the same database wait for it, some milliseconds. */
const BATCH = 256;
/** How long a run may take. One starts every second. */
const RUN_MS = 900;
/** Pause after a run that found nothing more to delete. */
const QUIET_MS = MINUTE_MS;

interface Needs {
  readonly expired: ExpiredDeliveries;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly retentionDays: number;
  /** Whether the clock can be trusted. A clock that is far ahead would delete deliveries too early. */
  readonly mayWork: () => boolean;
}

/** Deletes deliveries for at most half of the time, so that other work isn't delayed. */
export class DeliveryRetention {
  readonly #needs: Needs;
  #quietUntilMs = 0;
  /** Deliveries that could not be deleted, such as those whose last event was skipped. Until the next pause they aren't tried again. */
  #kept: DeliveryId[] = [];

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Deletes deliveries for up to 0.9 s. */
  async run(): Promise<void> {
    const { expired, clock, stopwatch, retentionDays, mayWork } = this.#needs;
    const now = clock.now();
    if (now < this.#quietUntilMs || !mayWork()) return;
    const recordedBefore = new Date(now - retentionDays * DAY_MS).toISOString().slice(0, 10);
    await withRests(stopwatch, RUN_MS, async () => {
      const done = await expired.deleteSome(recordedBefore, BATCH, this.#kept);
      if (done === null) return false;
      this.#kept.push(...done.kept);
      if (done.deleted + done.kept.length === BATCH) return true;
      this.#kept = [];
      this.#quietUntilMs = now + QUIET_MS;
      return false;
    });
  }

  /** Returns how many deliveries were deleted since the database was created. */
  deleted(): Promise<number> {
    return this.#needs.expired.deleted();
  }
}
