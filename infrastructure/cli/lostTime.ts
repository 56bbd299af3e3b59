// The time that a restore of PostgreSQL lost: the events after all checkpoints of the backup. Claims and data keys are stored before their
// event, and the event before a checkpoint at or after it. So the backup has the claims and keys of all earlier events.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Category } from '../../domain/aggregates.ts';

export type LostTimeStorage = EventLog & { readonly operations: SqlPool };

const KEPT_UP_TO = 'SELECT max(position) AS position FROM subscriptions.checkpoints WHERE store_id = $1';

/** Yields the events of the lost time of these categories, in batches. */
export async function* eventsOfLostTime(
  { store, operations }: LostTimeStorage,
  categories: readonly Category[],
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  const { rows } = await operations.query<{ position: Position | null }>(KEPT_UP_TO, [store.storeId]);
  const after = rows[0]?.position ?? null;
  const head = await store.head();
  if (head === null || (after !== null && after >= head)) return;
  // The event there may have been deleted since.
  const from = after !== null && (await store.eventIdAt(after)) === null ? null : after;
  for await (const batch of store.subscribe({ after: from, categories, signal })) {
    if (batch.kind === 'caughtUp') return;
    if (batch.kind === 'events') yield batch.events;
  }
}
