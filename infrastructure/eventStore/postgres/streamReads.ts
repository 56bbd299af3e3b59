// Reads of streams that are asked for at the same time go to the database together: a job reads twenty streams, and a statement each
// would cost more than everything else about them.
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';

export interface StreamRead {
  readonly stream: string;
  /** First revision wanted. */
  readonly from: number;
}

/** The events of each read, in the order of the reads. */
type ReadTogether = (reads: readonly StreamRead[]) => Promise<readonly (readonly RecordedEvent[])[]>;

interface Waiting extends StreamRead {
  readonly resolve: (events: readonly RecordedEvent[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Streams of one statement: each may give a whole page. */
const TOGETHER_MAX = 32;
/** One connection is left for whoever follows the log. */
const STATEMENTS_MAX = 2;

export class StreamReads {
  readonly #readTogether: ReadTogether;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #underWay = 0;

  constructor(readTogether: ReadTogether) {
    this.#readTogether = readTogether;
  }

  /** Rejects with what the statement rejects with. */
  read(stream: string, from: number): Promise<readonly RecordedEvent[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stream, from, resolve, reject });
      this.#schedule();
    });
  }

  /** When this turn of the event loop is over: no delay, but all that is asked for in the same turn goes together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#underWay < STATEMENTS_MAX)
        void this.#run(this.#waiting.splice(0, TOGETHER_MAX));
    });
  }

  async #run(reads: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    try {
      const found = await this.#readTogether(reads);
      for (const [index, { resolve }] of reads.entries()) resolve(found[index] as readonly RecordedEvent[]);
    } catch (error) {
      for (const { reject } of reads) reject(error);
    } finally {
      this.#underWay--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}
