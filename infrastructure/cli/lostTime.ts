// The time that a restore of PostgreSQL lost: the events after all checkpoints of the backup. Claims and data keys are stored before their
// event, and the event before a checkpoint at or after it. So the backup has the claims and keys of all earlier events. A program that
// runs after the restore moves the checkpoints, which then no longer show the lost time.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Category } from '../../domain/aggregates.ts';

export type LostTimeStorage = EventLog & { readonly operations: SqlPool };

const KEPT_UP_TO = 'SELECT max(position) AS position FROM subscriptions.checkpoints WHERE store_id = $1';

/** Returns the position after which events may lack their claims and keys; null if all events may. */
export const startOfLostTime = async ({ store, operations }: LostTimeStorage): Promise<Position | null> => {
  const { rows } = await operations.query<{ position: Position | null }>(KEPT_UP_TO, [store.storeId]);
  const after = rows[0]?.position ?? null;
  const head = await store.head();
  // A program may have moved a checkpoint to the head since the restore.
  if (after === null || head === null || after >= head) return null;
  // The event there may have been deleted since.
  return (await store.eventIdAt(after)) === null ? null : after;
};

/** Yields the events of these categories after a position, in batches. */
export async function* eventsAfter(
  after: Position | null,
  { store }: LostTimeStorage,
  categories: readonly Category[],
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const batch of store.subscribe({ after, categories, signal })) {
    if (batch.kind === 'caughtUp') return;
    if (batch.kind === 'events') yield batch.events;
  }
}
