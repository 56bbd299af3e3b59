// Reading the log from some point to some point, into a writer, in large turns.

import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../application/ports/leaderSession.ts';
import { decodeEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Projection, ProjectionWriter } from './projection.ts';

/** Events a transaction of a rebuild: nobody waits on this event loop. */
const REPLAY_BATCH_SIZE = 4_000;

export interface Replay {
  readonly store: EventStore;
  readonly session: LeaderSession;
  readonly projections: readonly { readonly projection: Projection; readonly writer: ProjectionWriter }[];
  readonly after: Position | null;
  /** Inclusive; null: up to the head at the time. */
  readonly until: Position | null;
  /** In the transaction of each batch, after its rows. */
  readonly onBatch?: (tx: Sql, position: Position, from: Position | null) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** Returns the position up to which all was applied, and how many events were read. */
export const replay = async ({
  store,
  session,
  projections,
  after,
  until,
  onBatch,
  signal,
}: Replay): Promise<{ position: Position | null; events: number }> => {
  const wanted = new Set<string>(projections.flatMap(({ projection }) => projection.categories));
  const end = until ?? (await store.head());
  let position = after;
  let events = 0;
  if (end === null || (position !== null && position >= end)) return { position, events };
  const stop = new AbortController();
  const signals = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  for await (const batch of store.subscribe({
    after,
    // What no projection follows is not read: it may be most of the log, and of a kind that only others know.
    categories: [...wanted],
    batchSize: REPLAY_BATCH_SIZE,
    signal: signals,
  })) {
    const recorded = (batch.kind === 'events' ? batch.events : []).filter((event) => event.position <= end);
    const logged = recorded.map(decodeEvent);
    // Caught up means beyond `end`, which was the head, or before it, when the subscription began.
    const to = batch.kind === 'caughtUp' || batch.position > end ? end : batch.position;
    const from = position;
    await session.transaction(async (tx) => {
      for (const { projection, writer } of projections) {
        const own = logged.filter(({ category }) => projection.categories.includes(category));
        if (own.length > 0) await writer.apply(own, tx);
      }
      await onBatch?.(tx, to, from);
    });
    position = to;
    events += recorded.length;
    if (position >= end) break;
  }
  stop.abort();
  if (signal?.aborted) throw new Error('the replay was stopped');
  return { position, events };
};
