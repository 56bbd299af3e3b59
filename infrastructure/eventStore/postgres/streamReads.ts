// Concurrent reads of streams are sent to the database together: a job reads twenty streams, and one statement per stream would cost more
// than all its other work.

import type { RecordedEvent } from '../../../application/ports/eventStore.ts';

export interface StreamRead {
  readonly stream: string;
  /** First revision wanted. */
  readonly from: number;
}

/** Returns the events of each read, in the order of the reads. */
type ReadTogether = (reads: readonly StreamRead[]) => Promise<readonly (readonly RecordedEvent[])[]>;

interface Waiting extends StreamRead {
  readonly resolve: (events: readonly RecordedEvent[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Most streams per statement; each may return a whole page. */
const TOGETHER_MAX = 32;
/** Most concurrent statements. One connection stays free for subscriptions. */
const STATEMENTS_MAX = 2;

export class StreamReads {
  readonly #readTogether: ReadTogether;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #underWay = 0;

  constructor(readTogether: ReadTogether) {
    this.#readTogether = readTogether;
  }

  /** Reads a stream. Rejects with the statement's error. */
  read(stream: string, from: number): Promise<readonly RecordedEvent[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stream, from, resolve, reject });
      this.#schedule();
    });
  }

  /** Sends at the end of this turn of the event loop. This adds no delay, but combines all reads of the same turn. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#underWay < STATEMENTS_MAX)
      void this.#run(this.#waiting.splice(0, TOGETHER_MAX));
  }

  async #run(reads: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    let settle: (read: Waiting, index: number) => void;
    try {
      const found = await this.#readTogether(reads);
      settle = ({ resolve }, index) => resolve(found[index] as readonly RecordedEvent[]);
    } catch (error) {
      settle = ({ reject }) => reject(error);
    }
    this.#underWay--;
    // The database reads the next streams while the callers process these.
    this.#send();
    reads.forEach(settle);
  }
}
