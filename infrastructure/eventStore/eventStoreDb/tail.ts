// The newest events of the log, as the process's one live subscription receives them. All followers near the head read them here: the
// server sends an event once, and it is decoded once. The subscription never waits for a follower, because servers up to 23.10 end one that
// does. A follower that needs older events catches up by a separate subscription.

import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { later } from './messages.ts';

interface TailBounds {
  readonly eventsMax: number;
  /** UTF-16 units of data and metadata. */
  readonly lengthMax: number;
}
const BOUNDS: TailBounds = { eventsMax: 4_096, lengthMax: 8_000_000 };

/** Events after a position, and the position up to which there are no others. */
interface Slice {
  readonly events: readonly RecordedEvent[];
  readonly upTo: Position | null;
}

const lengthOf = ({ data, metadata }: RecordedEvent): number => data.length + metadata.length;

export class Tail {
  readonly #bounds: TailBounds;
  #events: RecordedEvent[] = [];
  #length = 0;
  /** All later events of Quita's streams, up to `seen`, are in `#events`. */
  #from: Position | null = null;
  #isOpen = false;
  readonly #waiting = new Set<() => void>();
  /** The newest position that the subscription has passed. */
  seen: Position | null = null;
  /** Grows when the subscription is lost and when it is opened again: in between, the log may have become another one. */
  generation = 0;

  constructor(bounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /** Forgets all events: a subscription begins after this position. */
  begin(after: Position | null): void {
    this.#events = [];
    this.#length = 0;
    this.#from = after;
    this.seen = after;
    this.lost();
  }

  /** The log was found to hold the events received before, and the subscription continues after them. */
  open(): void {
    this.#isOpen = true;
    this.generation++;
    this.#wake();
  }

  lost(): void {
    this.#isOpen = false;
    this.generation++;
    this.#wake();
  }

  push(events: readonly RecordedEvent[], upTo: Position): void {
    for (const event of events) {
      this.#events.push(event);
      this.#length += lengthOf(event);
    }
    this.seen = later(this.seen, upTo);
    this.#trim();
    this.#wake();
  }

  /** Whether all events after this position are here, or will be. */
  covers(position: Position | null): boolean {
    return this.#isOpen && (this.#from === null || (position !== null && position >= this.#from));
  }

  /** Returns at most `limit` events after this position, or null if one of them is not here. */
  after(position: Position | null, limit: number): Slice | null {
    if (!this.covers(position)) return null;
    const first = this.#indexAfter(position);
    const events = this.#events.slice(first, first + limit);
    const isAll = first + events.length === this.#events.length;
    return { events, upTo: isAll ? this.seen : (events.at(-1)?.position ?? null) };
  }

  /** Resolves when the subscription is open, or on the signal. */
  async opened(signal: AbortSignal): Promise<void> {
    while (!this.#isOpen && !signal.aborted) await this.changed(signal);
  }

  /** Resolves with the next change, or on the signal. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #indexAfter(position: Position | null): number {
    let [low, high] = [0, this.#events.length];
    while (position !== null && low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Drops a sixteenth at a time, because each time moves all the others. */
  #trim(): void {
    const { eventsMax, lengthMax } = this.#bounds;
    if (this.#events.length <= eventsMax && this.#length <= lengthMax) return;
    let dropped = 0;
    const keep = eventsMax - Math.floor(eventsMax / 16);
    while (this.#events.length - dropped > keep || this.#length > lengthMax) {
      const oldest = this.#events[dropped] as RecordedEvent;
      this.#length -= lengthOf(oldest);
      this.#from = oldest.position;
      dropped++;
    }
    this.#events.splice(0, dropped);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
