// Replays a range of the log into a writer, in large batches. Failing streams are parked for the copy, as they are live.

import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession, Sql } from '../../application/ports/sql.ts';
import { applyCarefully, decodeAll, type LeftOut, ofLivingStreams, type Poison } from './parking.ts';
import type { Projection, ProjectionWriter } from './projection.ts';

/** Events per transaction of a rebuild. Large, because nothing else waits for this event loop. */
const REPLAY_BATCH_SIZE = 4_000;

export interface Replay extends EventLog {
  readonly session: LeaderSession;
  readonly projection: Projection;
  readonly writer: ProjectionWriter;
  /** Events to leave out. Failing streams are added. */
  readonly leftOut: LeftOut;
  readonly after: Position | null;
  /** Inclusive; null for the head at the start. */
  readonly until: Position | null;
  /** Called in the transaction of each batch, after its rows. */
  readonly onBatch?: (tx: Sql, position: Position, from: Position | null, poisoned: readonly Poison[]) => Promise<void>;
  /** Called after each batch with the position reached and the total number of events read. */
  readonly onTaken?: (position: Position, events: number) => void;
  readonly signal?: AbortSignal;
}

/** Returns the position up to which all events were applied, and the number of events read. Throws ConsumerFailed. */
export const replay = async (options: Replay): Promise<{ position: Position | null; events: number }> => {
  const { store, projection, after, until, signal } = options;
  const end = until ?? (await store.head());
  let position = after;
  let events = 0;
  if (end === null || (position !== null && position >= end)) return { position, events };
  const stop = new AbortController();
  const signals = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  for await (const batch of store.subscribe({
    after,
    // Categories that the projection doesn't follow are not read. They may be most of the log, or of a kind unknown to this program.
    categories: projection.categories,
    batchSize: REPLAY_BATCH_SIZE,
    signal: signals,
  })) {
    const recorded = (batch.kind === 'events' ? batch.events : []).filter((event) => event.position <= end);
    // "Caught up" means beyond `end`, which was the head when the subscription started, or before it.
    const to = batch.kind === 'caughtUp' || batch.position > end ? end : batch.position;
    await takeBatch(options, recorded, to, position);
    position = to;
    events += recorded.length;
    options.onTaken?.(position, events);
    if (position >= end) break;
  }
  stop.abort();
  if (signal?.aborted) throw new Error('the replay was stopped');
  return { position, events };
};

const takeBatch = async (
  { store, codec, session, projection: { skips }, writer, leftOut, onBatch }: Replay,
  recorded: readonly RecordedEvent[],
  to: Position,
  from: Position | null,
): Promise<void> => {
  const useful = skips ? recorded.filter((event) => !skips(event)) : recorded;
  const { events, poisoned: unreadable } = await decodeAll(codec, useful, leftOut);
  const poisoned = await session.transaction(async (tx) => {
    const consumer = { reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
    const failing = await ofLivingStreams(await applyCarefully(consumer, events, tx), store);
    const streams = new Set<string>(failing.map((poison) => poison.recorded.stream));
    const all = [...failing, ...unreadable.filter((poison) => !streams.has(poison.recorded.stream))];
    await onBatch?.(tx, to, from, all);
    return all;
  });
  for (const { recorded: first } of poisoned) leftOut.park(first.stream, first.revision);
};
