// The newest events that this process wrote or read. Followers of the log take them from here and share the objects. An event that all of
// them have taken is dropped, so that most events die young: kept ones would make the garbage collector stop the process more often.

import type { RecordedEvent } from '../../../application/ports/eventStore.ts';

interface RecentEventsBounds {
  /** Also the number of places that a follower may be behind. Events aren't kept for one that is further behind. */
  readonly eventsMax: number;
  /** UTF-16 units of data and metadata. */
  readonly lengthMax: number;
}
const BOUNDS: RecentEventsBounds = { eventsMax: 4_096, lengthMax: 8_000_000 };

/** A follower of the log. It has taken all events up to the place `at`. */
interface Follower {
  readonly at: number;
}

/** Older events may have been deleted (ADR 0008): deliveries are deleted only after a day. */
const AGE_MS_MAX = 3_600_000;

const lengthOf = (event: RecordedEvent): number => event.data.length + event.metadata.length;

/**
 * One run of events without gaps. If another process wrote in between, the run restarts after the gap. A reader before the gap does not
 * find its next place here and queries the database.
 */
export class RecentEvents {
  readonly #bounds: RecentEventsBounds;
  readonly #followers = new Set<Follower>();
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

  /** Keeps the events that the follower has not taken, until the returned function is called. */
  keepFor(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
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

  /** The place up to which all followers near the head have taken the events. */
  #taken(): number {
    const near = this.#last - this.#bounds.eventsMax;
    let taken = this.#last;
    for (const { at } of this.#followers) if (at >= near && at < taken) taken = at;
    return taken;
  }

  #trim(): void {
    const countMax = this.#last - this.#taken();
    while (this.#events.length - this.#begin > countMax || this.#length > this.#bounds.lengthMax) {
      this.#length -= lengthOf(this.#events[this.#begin]!);
      this.#begin += 1;
    }
    if (this.#begin * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#begin);
      this.#begin = 0;
    }
  }
}
