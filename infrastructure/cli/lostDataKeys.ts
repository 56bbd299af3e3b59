// Finds payments and payouts whose data keys a restore of PostgreSQL lost. Read models don't know those of the lost time yet.
import { completeMetadata, type StoredMetadata } from '../../application/core/eventMetadata.ts';
import { hasSealed } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { eventsAfter, type LostTimeStorage } from './lostTime.ts';

/** Deliveries are about payments and payouts that have events of their own. */
const CATEGORIES = AGGREGATES.filter(({ isSealed, isDeletable }) => isSealed && !isDeletable).map(
  ({ category }) => category,
);

const MISSING = `SELECT owner FROM unnest($1::text[]) AS v (owner)
  WHERE NOT EXISTS (SELECT FROM privacy.data_keys k WHERE k.owner = v.owner)`;

/** Returns the owners of the events after a position, as an operator writes them: `ch_…`. */
export const lostDataKeys = async (
  after: Position | null,
  storage: LostTimeStorage,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const lost = new Set<string>();
  for await (const events of eventsAfter(after, storage, CATEGORIES, signal)) {
    const owners = new Map<string, string>();
    for (const { stream, data, metadata } of events) {
      if (!hasSealed(data)) continue;
      const { correlationId: owner } = completeMetadata(JSON.parse(metadata) as StoredMetadata, stream);
      const { category, id } = readStreamName(stream);
      const isPayout = category === PAYOUT.category && id === owner;
      owners.set(owner, (isPayout ? PAYOUT.idPrefix : PREFIX.charge) + owner);
    }
    if (owners.size === 0) continue;
    const { rows } = await storage.operations.query<{ owner: string }>(MISSING, [[...owners.keys()]]);
    for (const { owner } of rows) lost.add(owners.get(owner) as string);
  }
  return [...lost];
};
