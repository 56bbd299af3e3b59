// Reads the newest events of other processes once for all followers of this process, into the memory of newest events. Without it, each
// follower would read the same page after every append.

import { setTimeout as pause } from 'node:timers/promises';
import { Pace } from '../../../application/ports/pace.ts';
import type { LogMemory } from './logMemory.ts';
import { placeOf, type Reader } from './reader.ts';

/** A page. A follower that is further behind reads by itself. */
const PAGE_EVENTS = 500;
/** While other processes append continuously, a read waits, so that it finds more events. */
const RHYTHM = { everyMs: 15, burst: 4 };

export class SharedReads {
  readonly #reader: Pick<Reader, 'logPage'>;
  readonly #memory: Pick<LogMemory, 'recent' | 'head' | 'connections' | 'saw'>;
  /** Followers of all categories. Without one, the others read less from the log. */
  #followers = 0;
  #running: { readonly after: number; readonly done: Promise<void> } | null = null;
  readonly #pace = new Pace(RHYTHM);

  constructor(reader: Pick<Reader, 'logPage'>, memory: Pick<LogMemory, 'recent' | 'head' | 'connections' | 'saw'>) {
    this.#reader = reader;
    this.#memory = memory;
  }

  /** Counts a follower of all categories, until the returned function is called. */
  enter(): () => void {
    this.#followers++;
    return () => {
      this.#followers--;
    };
  }

  /** Whether the events after this place are new, no more than a page, and wanted by a follower of all categories. */
  isNear(after: number): boolean {
    const { head, recent } = this.#memory;
    return this.#followers > 0 && after >= recent.last && head.known > after && head.known - after <= PAGE_EVENTS;
  }

  /** Reads the events after this place into the memory. Concurrent calls share one read. Rejects with its error. */
  fill(after: number): Promise<void> {
    if (this.#running?.after === after) return this.#running.done;
    const running = { after, done: this.#read(after) };
    this.#running = running;
    const end = (): void => {
      if (this.#running === running) this.#running = null;
    };
    running.done.then(end, end);
    return running.done;
  }

  async #read(after: number): Promise<void> {
    const waitMs = this.#pace.waitMs(performance.now());
    if (waitMs > 0) await pause(waitMs);
    const { connections } = this.#memory;
    const { events } = await this.#reader.logPage(after, null, PAGE_EVENTS);
    const last = events.at(-1);
    // A connection that was opened meanwhile may have found another log. Deleted deliveries leave gaps, which the memory can't have.
    const isWhole = last !== undefined && placeOf(last.position) === after + events.length;
    if (!isWhole || connections !== this.#memory.connections) return;
    this.#memory.recent.add(after + 1, events);
    this.#memory.saw({ place: after + events.length, id: last.id });
  }
}
