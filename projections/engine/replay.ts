// Replays a range of the log into writers, in large batches. Failing streams are parked for the copy, as they are live. Node and PostgreSQL
// work at the same time: a batch is decoded while the one before is written, and the rows of a copy are made while those of another are
// inserted.

import type { Decoded, EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore, Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession, Sql, SqlTransaction } from '../../application/ports/sql.ts';
import {
  applyCarefully,
  categoriesOf,
  decodeLists,
  type LeftOut,
  ofLivingStreams,
  type Poison,
  type Readable,
  readableOf,
} from './parking.ts';
import { nextTurn } from './pause.ts';
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

/** A copy's results for a batch. */
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
  /** Called in the transaction of each batch, after its rows, with the copies' results, in their order. */
  readonly onBatch?: (tx: Sql, position: Position, from: Position | null, taken: readonly Taken[]) => Promise<void>;
  /** Called and awaited after each batch with the position reached and the total number of events read. */
  readonly onTaken?: (position: Position, events: number) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** A copy can't process the events, for a reason of its own. Nothing of the batch was written. */
export class CopyFailed extends Error {
  override name = 'CopyFailed';
  readonly copy: Copy;
  constructor(copy: Copy, cause: Error) {
    super(`${copy.projection.name}: ${cause.message}`, { cause });
    this.copy = copy;
  }
}

/** Returns the position up to which all events were applied, and the number of events read. Throws CopyFailed. */
export const replay = async (options: Replay): Promise<{ position: Position | null; events: number }> => {
  const { store, copies, after, until, takes = () => true, batchSize = REPLAY_BATCH_SIZE, signal } = options;
  const end = until ?? (await store.head());
  let position = after;
  let events = 0;
  let writing: Promise<void> = Promise.resolve();
  if (end === null || (position !== null && position >= end)) return { position, events };
  const stop = new AbortController();
  const signals = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  try {
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
      const [decoded] = await Promise.all([decodedFor(options, recorded), writing]);
      if (signals.aborted) break;
      events += recorded.length;
      writing = write(options, decoded, { to, from: position, events });
      writing.catch(() => undefined); // it is awaited later
      position = to;
      if (position >= end) break;
    }
  } finally {
    await Promise.allSettled([writing]); // nothing runs on the session after this function rejects
  }
  await writing;
  stop.abort();
  if (signal?.aborted) throw new Error('the replay was stopped');
  return { position, events };
};

/** Returns the decoded events of a batch that each copy may need. */
const decodedFor = (
  { codec, copies }: Replay,
  recorded: readonly RecordedEvent[],
): Promise<readonly (readonly Decoded[])[]> => {
  const categories = categoriesOf(recorded);
  return decodeLists(
    codec,
    copies.map(({ projection }) => usefulTo(projection, recorded, categories)),
  );
};

/** The end and the beginning of a batch, and the number of events read up to its end. */
interface Reach {
  readonly to: Position;
  readonly from: Position | null;
  readonly events: number;
}

const write = async (
  { store, session, copies, onBatch, onTaken }: Replay,
  decoded: readonly (readonly Decoded[])[],
  { to, from, events }: Reach,
): Promise<void> => {
  const taken = await session.transaction(async (tx) => {
    const readable = copies.map(({ leftOut }, n) => readableOf(decoded[n] as readonly Decoded[], leftOut));
    const poisoned = (await applyTogether(copies, readable, tx))
      ? readable.map((one) => one.poisoned)
      : await applyInTurn(copies, readable, tx, store);
    const all = copies.map((_, n): Taken => {
      return { events: decoded[n]?.length ?? 0, poisoned: poisoned[n] as readonly Poison[] };
    });
    await onBatch?.(tx, to, from, all);
    return all;
  });
  for (const [n, { leftOut }] of copies.entries())
    for (const { recorded: first } of (taken[n] as Taken).poisoned) leftOut.park(first.stream, first.revision);
  await onTaken?.(to, events);
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

/** Applies the events to all copies. If any fails, undoes everything and returns false. */
const applyTogether = async (copies: readonly Copy[], readable: readonly Readable[], tx: Sql): Promise<boolean> => {
  await tx.query('SAVEPOINT together');
  const works: Promise<void>[] = [];
  for (const [n, { writer }] of copies.entries()) {
    const { events } = readable[n] as Readable;
    if (events.length === 0) continue;
    const work = writer.apply(events, tx);
    work.catch(() => undefined); // it is judged below
    works.push(work);
    await nextTurn(); // its statements leave now
  }
  const isDone = (await Promise.allSettled(works)).every(({ status }) => status === 'fulfilled');
  const undo = 'ROLLBACK TO SAVEPOINT together; RELEASE SAVEPOINT together';
  await tx.query(isDone ? 'RELEASE SAVEPOINT together' : undo); // rejects if the connection is lost
  if (!isDone) for (const { writer } of copies) writer.reset();
  return isDone;
};

/**
 * Applies the events to each copy, except those that can't be applied and the later ones of their streams. Returns the events that each
 * copy could not process. Throws CopyFailed.
 */
const applyInTurn = async (
  copies: readonly Copy[],
  readable: readonly Readable[],
  tx: SqlTransaction,
  store: EventStore,
): Promise<readonly (readonly Poison[])[]> => {
  const poisoned: (readonly Poison[])[] = [];
  for (const [n, copy] of copies.entries()) {
    const { writer } = copy;
    const { events, poisoned: unreadable } = readable[n] as Readable;
    const consumer = { reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
    const applied = await applyCarefully(consumer, events, tx).catch((error: Error) => {
      throw new CopyFailed(copy, error);
    });
    const failing = await ofLivingStreams(applied, store);
    const streams = new Set<string>(failing.map((poison) => poison.recorded.stream));
    poisoned.push([...failing, ...unreadable.filter((poison) => !streams.has(poison.recorded.stream))]);
  }
  return poisoned;
};
