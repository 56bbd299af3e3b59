// The lag of a reader of the log: the age of the first event that it has not processed.
import { fromMillis, secondsBetween, type Timestamp } from '../../domain/kernel/time.ts';
import { type EventStore, type Position, type RecordedEvent, UnknownPosition } from '../ports/eventStore.ts';
import type { Clock } from '../ports/system.ts';

/** Events that one call reads, rounded up to a page. */
export const EVENTS_MAX = 10_000;

export interface Lag {
  /** Age of the first event that counts; 0 if none of the events that were read counts. */
  readonly seconds: number;
  /** No event up to here counts. */
  readonly through: Position | null;
  /** False if EVENTS_MAX events don't count, and more follow `through`. */
  readonly isKnown: boolean;
}

/** Returns the lag of a reader at a position, or null if the log can't be read from there. Counts all events, or those of `isCounted`. */
export const lagAfter = async (
  store: Pick<EventStore, 'subscribe'>,
  clock: Clock,
  after: Position | null,
  isCounted?: (event: RecordedEvent) => boolean,
): Promise<Lag | null> => {
  const enough = new AbortController();
  const options = { after, categories: null, signal: enough.signal, ...(isCounted === undefined && { batchSize: 1 }) };
  let through = after;
  let count = 0;
  try {
    for await (const batch of store.subscribe(options)) {
      if (batch.kind === 'events') {
        const next = batch.events.find(isCounted ?? (() => true));
        if (next !== undefined)
          return {
            seconds: secondsBetween(next.recordedAt as Timestamp, fromMillis(clock.now())),
            through,
            isKnown: true,
          };
        count += batch.events.length;
      }
      through = batch.position;
      if (batch.kind === 'caughtUp') return { seconds: 0, through, isKnown: true };
      if (count >= EVENTS_MAX) return { seconds: 0, through, isKnown: false };
    }
    return { seconds: 0, through, isKnown: true }; // the store was closed
  } catch (error) {
    if (error instanceof UnknownPosition || error instanceof RangeError) return null; // RangeError: a position of another event store
    throw error;
  } finally {
    enough.abort();
  }
};
