// The last events that this process wrote, kept in memory: a live subscription takes them from here instead of asking the database for
// what was in our hands a moment ago. Every subscription gets the same objects.
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';

interface RecentEventsBounds {
  readonly eventsMax: number;
  /** UTF-16 units of data and metadata. */
  readonly lengthMax: number;
}
const BOUNDS: RecentEventsBounds = { eventsMax: 4_096, lengthMax: 8_000_000 };

/** Older ones may have been deleted (ADR 0008): no delivery is before it is a day old. */
const AGE_MS_MAX = 3_600_000;

const lengthOf = (event: RecordedEvent): number => event.data.length + event.metadata.length;

/**
 * One run of events without a hole. When another process wrote in between, the run starts anew behind the hole: a reader before it
 * finds its next place missing here and asks the database.
 */
export class RecentEvents {
  readonly #bounds: RecentEventsBounds;
  #events: RecordedEvent[] = [];
  /** Index of the oldest event still offered; those before it await compaction. */
  #begin = 0;
  #length = 0;
  /** Place of the last event. */
  #last = 0;

  constructor(bounds: RecentEventsBounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /** Events of one flush that the database has acknowledged as committed, at the places `first`, `first + 1`, … Older ones are ignored. */
  add(first: number, events: readonly RecordedEvent[]): void {
    if (events.length === 0 || first <= this.#last) return;
    if (first !== this.#last + 1) this.#forget();
    for (const event of events) {
      this.#events.push(event);
      this.#length += lengthOf(event);
    }
    this.#last = first + events.length - 1;
    this.#trim();
  }

  /** The events directly behind that place, at most `limit`; null when the first of them is not here, or is old. */
  after(place: number, limit: number): readonly RecordedEvent[] | null {
    const count = this.#events.length - this.#begin;
    const oldest = this.#last - count + 1;
    if (place + 1 < oldest || place >= this.#last) return null;
    const from = this.#begin + (place + 1 - oldest);
    if (Date.parse(this.#events[from]!.recordedAt) < Date.now() - AGE_MS_MAX) return null;
    return this.#events.slice(from, from + limit);
  }

  /** Forgets everything: what was written is not in the log any more. */
  clear(): void {
    this.#forget();
    this.#last = 0;
  }

  #forget(): void {
    this.#events = [];
    this.#begin = 0;
    this.#length = 0;
  }

  #trim(): void {
    while (this.#events.length - this.#begin > this.#bounds.eventsMax || this.#length > this.#bounds.lengthMax) {
      this.#length -= lengthOf(this.#events[this.#begin]!);
      this.#begin += 1;
    }
    if (this.#begin * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#begin);
      this.#begin = 0;
    }
  }
}
