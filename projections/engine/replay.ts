// Replays a range of the log into writers, in large batches. Failing streams are parked for the copy, as they are live.

import type { Decoded, EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore, Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession, Sql } from '../../application/ports/sql.ts';
import {
  applyCarefully,
  categoriesOf,
  decodeLists,
  type LeftOut,
  ofLivingStreams,
  type Poison,
  readableOf,
} from './parking.ts';
import type { Projection, ProjectionWriter } from './projection.ts';

/** Events per transaction of a rebuild. Large, because nothing else waits for this event loop. */
const REPLAY_BATCH_SIZE = 4_000;

/** A copy of a read model that is written. */
export interface Copy {
  readonly projection: Projection;
  readonly writer: ProjectionWriter;
  /** Events to leave out. Failing streams are added. */
  readonly leftOut: LeftOut;
}

/** What a copy took of a batch. */
export interface Taken {
  readonly events: number;
  readonly poisoned: readonly Poison[];
}

export interface Replay extends EventLog {
  readonly session: LeaderSession;
  /** All are written in one pass over the log, in one transaction per batch. */
  readonly copies: readonly Copy[];
  readonly after: Position | null;
  /** Inclusive; null for the head at the start. */
  readonly until: Position | null;
  /** Whether an event between the two is replayed. Default: all are. */
  readonly takes?: (recorded: RecordedEvent) => boolean;
  /** Events per transaction. Default: 4,000. */
  readonly batchSize?: number;
  /** Called in the transaction of each batch, after its rows, with what each copy took, in their order. */
  readonly onBatch?: (tx: Sql, position: Position, from: Position | null, taken: readonly Taken[]) => Promise<void>;
  /** Called and awaited after each batch with the position reached and the total number of events read. */
  readonly onTaken?: (position: Position, events: number) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Returns the position up to which all events were applied, and the number of events read. Throws ConsumerFailed. */
export const replay = async (options: Replay): Promise<{ position: Position | null; events: number }> => {
  const { store, copies, after, until, takes = () => true, batchSize = REPLAY_BATCH_SIZE, signal } = options;
  const end = until ?? (await store.head());
  let position = after;
  let events = 0;
  if (end === null || (position !== null && position >= end)) return { position, events };
  const stop = new AbortController();
  const signals = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  for await (const batch of store.subscribe({
    after,
    // Categories that no projection follows are not read. They may be most of the log, or of a kind unknown to this program.
    categories: [...new Set(copies.flatMap(({ projection }) => projection.categories))],
    batchSize,
    signal: signals,
  })) {
    const found = (batch.kind === 'events' ? batch.events : []).filter((event) => event.position <= end);
    const recorded = found.filter(takes);
    // "Caught up" means beyond `end`, which was the head when the subscription started, or before it.
    const to = batch.kind === 'caughtUp' || batch.position > end ? end : batch.position;
    await takeBatch(options, recorded, to, position);
    position = to;
    events += recorded.length;
    await options.onTaken?.(position, events);
    if (position >= end) break;
  }
  stop.abort();
  if (signal?.aborted) throw new Error('the replay was stopped');
  return { position, events };
};

const takeBatch = async (
  { store, codec, session, copies, onBatch }: Replay,
  recorded: readonly RecordedEvent[],
  to: Position,
  from: Position | null,
): Promise<void> => {
  const categories = categoriesOf(recorded);
  const lists = copies.map(({ projection }) => usefulTo(projection, recorded, categories));
  const decoded = await decodeLists(codec, lists);
  const taken = await session.transaction(async (tx) => {
    const all: Taken[] = [];
    for (const [n, copy] of copies.entries()) all.push(await apply(copy, decoded[n] as readonly Decoded[], tx, store));
    await onBatch?.(tx, to, from, all);
    return all;
  });
  for (const [n, { leftOut }] of copies.entries())
    for (const { recorded: first } of (taken[n] as Taken).poisoned) leftOut.park(first.stream, first.revision);
};

/** Returns the events that the projection may need. `of` holds the category of each recorded event. */
const usefulTo = (
  { categories, skips }: Projection,
  recorded: readonly RecordedEvent[],
  of: readonly string[],
): readonly RecordedEvent[] => {
  const wanted = new Set(categories);
  return recorded.filter((event, n) => wanted.has(of[n] as string) && !skips?.(event));
};

/** Applies the events to the copy, except those that can't be applied and the later ones of their streams. */
const apply = async (
  { writer, leftOut }: Copy,
  decoded: readonly Decoded[],
  tx: Sql,
  store: EventStore,
): Promise<Taken> => {
  const { events, poisoned: unreadable } = readableOf(decoded, leftOut);
  const consumer = { reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
  const failing = await ofLivingStreams(await applyCarefully(consumer, events, tx), store);
  const streams = new Set<string>(failing.map((poison) => poison.recorded.stream));
  const poisoned = [...failing, ...unreadable.filter((poison) => !streams.has(poison.recorded.stream))];
  return { events: decoded.length, poisoned };
};
