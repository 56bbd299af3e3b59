// Deliveries are the one exception to "facts are never deleted" (ADR 0008): the stream of one that has ended goes as a whole, with its row.
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Sql } from './sql.ts';

/** The queue whose jobs schedule messages: what it still has to do may schedule a delivery again. */
export const FAN_OUT_QUEUE = 'fanOut';

export interface EndedDelivery {
  readonly id: DeliveryId;
  /** Of the last event of its stream. */
  readonly revision: number;
}

/** What an event store does besides, with streams of deliveries alone: no other stream can be named. */
export interface DeletesDeliveries {
  /**
   * Deletes the streams for good, each as a whole, and only while its last event is the one named. Returns those that are gone now, the
   * ones that were gone before included. No read gives their events any more, nor a subscription that begins later; only what a process
   * wrote itself within the last hour may come from its memory. `recordedBefore`: a day (yyyy-mm-dd, UTC) before which all their events
   * were recorded. `tx`: of the read models' database; a log that is kept there is deleted from in this transaction. Rejects when nothing
   * is known of some; a repeat is safe.
   */
  deleteDeliveries(ended: readonly EndedDelivery[], recordedBefore: string, tx: Sql): Promise<ReadonlySet<DeliveryId>>;
}

/** Deliveries that ended long ago. */
export interface ExpiredDeliveries {
  /**
   * Deletes at most `limit` of those whose last event was recorded before that day (yyyy-mm-dd, UTC): streams, rows and what they were
   * counted as. Not those that are pending, parked, or may be scheduled again by work that is not done. Returns how many; null while a
   * read model is compared or rebuilt, or another process deletes.
   */
  deleteSome(recordedBefore: string, limit: number): Promise<number | null>;
  /** How many were deleted since this database was made. */
  deleted(): Promise<number>;
}
