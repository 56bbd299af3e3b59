// The newest events that this process wrote or read. Live subscriptions take them from here and share the objects.

import type { RecordedEvent } from '../../../application/ports/eventStore.ts';

interface RecentEventsBounds {
  readonly eventsMax: number;
  /** UTF-16 units of data and metadata. */
  readonly lengthMax: number;
}
const BOUNDS: RecentEventsBounds = { eventsMax: 4_096, lengthMax: 8_000_000 };

/** Older events may have been deleted (ADR 0008): deliveries are deleted only after a day. */
const AGE_MS_MAX = 3_600_000;

const lengthOf = (event: RecordedEvent): number => event.data.length + event.metadata.length;

/**
 * One run of events without gaps. If another process wrote in between, the run restarts after the gap. A reader before the gap does not
 * find its next place here and queries the database.
 */
export class RecentEvents {
  readonly #bounds: RecentEventsBounds;
  #events: RecordedEvent[] = [];
  /** Index of the oldest available event; those before it await compaction. */
  #begin = 0;
  #length = 0;
  /** Place of the last event. */
  #last = 0;

  constructor(bounds: RecentEventsBounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /** The place of the last event; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Adds the events at the places `first`, `first + 1`, … Ignores those that are not newer. */
  add(first: number, events: readonly RecordedEvent[]): void {
    const newer = first > this.#last ? events : events.slice(this.#last - first + 1);
    if (newer.length === 0) return;
    if (first > this.#last + 1) this.#forget();
    for (const event of newer) {
      this.#events.push(event);
      this.#length += lengthOf(event);
    }
    this.#last = first + events.length - 1;
    this.#trim();
  }

  /** Returns at most `limit` events directly after that place, or null if the first of them is missing or old. */
  after(place: number, limit: number): readonly RecordedEvent[] | null {
    const count = this.#events.length - this.#begin;
    const oldest = this.#last - count + 1;
    if (place + 1 < oldest || place >= this.#last) return null;
    const from = this.#begin + (place + 1 - oldest);
    if (Date.parse(this.#events[from]!.recordedAt) < Date.now() - AGE_MS_MAX) return null;
    return this.#events.slice(from, from + limit);
  }

  /** Forgets all events, because the log may no longer hold them. */
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
