// Deletes ended deliveries, each with its whole stream and row. They are the one exception to "facts are never deleted" (ADR 0008).
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Sql } from './sql.ts';

export interface EndedDelivery {
  readonly id: DeliveryId;
  /** Revision of the last event of its stream. */
  readonly revision: number;
}

/** An additional capability of event stores, limited to streams of deliveries. */
export interface DeletesDeliveries {
  /**
   * Deletes whole streams permanently, each only if its last event has the given revision. Returns the ids of all streams that no longer
   * exist, including those deleted before. Later reads and subscriptions no longer return their events, except that a process may still
   * read events from its memory that it wrote within the last hour. `recordedBefore`: a day (yyyy-mm-dd, UTC) before which all their events
   * were recorded. `tx`: a transaction in the read models' database, used if the log is in the same database. Rejects if the outcome for
   * some streams is unknown; a retry is safe.
   */
  deleteDeliveries(ended: readonly EndedDelivery[], recordedBefore: string, tx: Sql): Promise<ReadonlySet<DeliveryId>>;
  /**
   * Returns whether the log knows that it had the delivery and deleted it. Always false if the log is in the read models' database, which
   * a restore brings to the same moment.
   */
  isDeleted(id: DeliveryId): Promise<boolean>;
}

export interface Deletion {
  /** Number of deleted deliveries. */
  readonly deleted: number;
  /** Deliveries that had expired by their rows and remain, because their streams have a later event, or one at the head of the log. */
  readonly kept: readonly DeliveryId[];
}

/** Deliveries that ended long ago. */
export interface ExpiredDeliveries {
  /**
   * Deletes the streams, rows and counts of at most `limit` deliveries, except those given, whose last event was recorded before that day
   * (yyyy-mm-dd, UTC). Skips deliveries that are pending, parked, or may be scheduled again by unfinished jobs. Returns null while a read
   * model is verified or rebuilt, or while another process deletes.
   */
  deleteSome(recordedBefore: string, limit: number, except: readonly DeliveryId[]): Promise<Deletion | null>;
  /** Returns how many deliveries were deleted since this database was created. */
  deleted(): Promise<number>;
}
