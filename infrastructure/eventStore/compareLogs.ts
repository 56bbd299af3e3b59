// Compares two logs event by event, in log order.
import type { EndedDelivery } from '../../application/ports/deliveryRetention.ts';
import type { EventStore, Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import { isDeletable } from '../../domain/aggregates.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { DeliveryId, StreamName } from '../../domain/kernel/ids.ts';
import { DAY_MS } from '../../domain/kernel/time.ts';

/** The copy's content differs from the source's. */
export class LogsDiffer extends Error {
  override name = 'LogsDiffer';
}

/** Events per read: few enough to be held twice in memory. */
const BATCH_EVENTS = 1_000;

/** Yields the events after `after` (null: from the first) up to `until` (null: none), in batches. Rejects if the signal aborts first. */
export async function* eventsUpTo(
  store: EventStore,
  after: Position | null,
  until: Position | null,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[], void> {
  if (until === null || (after !== null && after >= until)) return;
  const left = new AbortController();
  const reading = AbortSignal.any([signal, left.signal]);
  try {
    for await (const batch of store.subscribe({ after, categories: null, batchSize: BATCH_EVENTS, signal: reading })) {
      if (batch.kind === 'events') yield batch.events.filter(({ position }) => position <= until);
      // The head need not be an event: it may be the tombstone of a deleted stream.
      if (batch.kind !== 'checkpoint' && batch.position !== null && batch.position >= until) return;
    }
    signal.throwIfAborted();
    throw new Error('the log ended before its head');
  } finally {
    left.abort();
  }
}

const FIELDS = ['stream', 'revision', 'id', 'type', 'data', 'metadata', 'recordedAt'] as const;

/** Reports which field differs, but not its content, which may be personal data. */
const assertSame = (number: number, source: RecordedEvent, target: RecordedEvent): void => {
  const field = FIELDS.find((each) => source[each] !== target[each]);
  if (field !== undefined)
    throw new LogsDiffer(`event ${number} (${source.stream}@${source.revision}) has a different ${field} in the copy`);
};

/** Yields the events of batches one by one. */
async function* flat(batches: AsyncIterable<readonly RecordedEvent[]>): AsyncGenerator<RecordedEvent, void> {
  for await (const batch of batches) yield* batch;
}

/** Deliveries that the target still holds but the source has deleted since the target was the log in use. */
interface DeletedSince {
  readonly deliveries: readonly EndedDelivery[];
  /** The day (yyyy-mm-dd, UTC) after their last event was recorded; null without such deliveries. */
  readonly recordedBefore: string | null;
}

/** An event of the target. */
interface Place {
  readonly position: Position;
  readonly eventId: string;
}

export interface Comparison {
  /** Number of the source's first events that the target holds; it holds no others. */
  readonly events: number;
  /** Position of the last of them in the source, or the source's head if no event follows; null if `events` is 0. */
  readonly source: Position | null;
  /** For each asked position of the source: the target's position and the id of the last event at or before it. */
  readonly positions: ReadonlyMap<Position, Place | null>;
  readonly deleted: DeletedSince;
}

interface Comparing {
  readonly source: EventStore;
  readonly target: EventStore;
  /** Positions of the source to find in the target. Positions after the last common event get that event's position. */
  readonly asked: readonly Position[];
  readonly signal: AbortSignal;
  /** Called with the number of compared events and the source's position of the last one. */
  readonly onCompared: (events: number, position: Position) => void;
}

/** Compares the whole target with the beginning of the source. Throws LogsDiffer if they differ. */
export const compareLogs = async ({ source, target, asked, signal, onCompared }: Comparing): Promise<Comparison> => {
  const end = await source.head();
  const originals = flat(eventsUpTo(source, null, end, signal));
  const copies = flat(eventsUpTo(target, null, await target.head(), signal));
  const deleted = new DeletedDeliveries(source);
  const waiting = [...new Set(asked)].sort();
  const positions = new Map<Position, Place | null>();
  let events = 0;
  let last: { readonly source: Position; readonly target: Place } | null = null;
  let next: IteratorResult<RecordedEvent, void>;
  try {
    next = await originals.next();
    for await (const copy of copies) {
      const { value: original, done } = next;
      if ((done || original.id !== copy.id) && (await deleted.has(copy))) continue;
      if (done)
        throw new LogsDiffer(
          `the copy holds more than the source: ${copy.stream}@${copy.revision} is only in the copy`,
        );
      assertSame(events + 1, original, copy);
      while (waiting[0] !== undefined && waiting[0] < original.position)
        positions.set(waiting.shift() as Position, last?.target ?? null);
      last = { source: original.position, target: { position: copy.position, eventId: copy.id } };
      events += 1;
      if (events % BATCH_EVENTS === 0) onCompared(events, original.position);
      next = await originals.next();
    }
  } finally {
    await originals.return();
  }
  for (const position of waiting) positions.set(position, last?.target ?? null);
  return { events, source: next.done ? end : (last?.source ?? null), positions, deleted: deleted.found };
};

/** Collects, event by event, the deliveries that one log holds and another one has deleted. */
class DeletedDeliveries {
  readonly #other: EventStore;
  /** Whether the other log has deleted it. */
  readonly #known = new Map<StreamName, boolean>();
  readonly #revisions = new Map<DeliveryId, number>();
  #lastDay = '';

  constructor(other: EventStore) {
    this.#other = other;
  }

  /** Returns whether the event belongs to a deleted delivery. Call it for each event that the other log lacks. */
  async has({ stream, revision, recordedAt }: RecordedEvent): Promise<boolean> {
    if (!isDeletable(stream)) return false;
    const isDeleted = this.#known.get(stream) ?? (await this.#isEmpty(stream));
    this.#known.set(stream, isDeleted);
    if (!isDeleted) return false;
    this.#revisions.set(readStreamName(stream).id as DeliveryId, revision);
    const day = recordedAt.slice(0, 10);
    if (day > this.#lastDay) this.#lastDay = day;
    return true;
  }

  get found(): DeletedSince {
    const deliveries = [...this.#revisions].map(([id, revision]) => ({ id, revision }));
    const recordedBefore =
      deliveries.length === 0 ? null : new Date(Date.parse(this.#lastDay) + DAY_MS).toISOString().slice(0, 10);
    return { deliveries, recordedBefore };
  }

  async #isEmpty(stream: StreamName): Promise<boolean> {
    for await (const _ of this.#other.readStream(stream)) return false;
    return true;
  }
}
