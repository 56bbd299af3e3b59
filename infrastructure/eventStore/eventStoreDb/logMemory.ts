// This process's knowledge of the log, and the detection that the server was restored to an older state. It is compared with the leader
// before the first append over a new connection, and before every subscription call.
import type { Position } from '../../../application/ports/eventStore.ts';
import { KnownHead, Listeners } from '../knownLog.ts';
import type { Reader } from './reader.ts';

interface Landmark {
  readonly position: Position;
  readonly id: string;
}

export class LogMemory {
  readonly head: KnownHead<Position | null>;
  /** Number of times that the log was found to be older. */
  restores = 0;
  /** The newest event with a known id. */
  #landmark: Landmark | null = null;
  readonly #reader: Pick<Reader, 'newest' | 'idAt'>;
  readonly #prefixes: readonly string[];
  readonly #restored: Listeners<Position | null>;

  /** `prefixes`: prefixes of the streams whose newest position is the head. */
  constructor(reader: Pick<Reader, 'newest' | 'idAt'>, prefixes: readonly string[], onError: (error: Error) => void) {
    this.#reader = reader;
    this.#prefixes = prefixes;
    this.#restored = new Listeners((error) => onError(error as Error));
    this.head = new KnownHead<Position | null>(null, (error) => onError(error as Error));
  }

  /** Reads the head from the server. Throws EventStoreUnavailable. */
  async readHead(): Promise<Position | null> {
    const position = await this.#reader.newest(this.#prefixes);
    this.head.learn(position);
    return position;
  }

  /** Records an event of the streams that count for the head. */
  saw(position: Position, id: string): void {
    if (this.#landmark === null || position > this.#landmark.position) this.#landmark = { position, id };
    this.head.learn(position);
  }

  /** Calls the listener with the head when the log was replaced. Returns a function that removes the listener. */
  onRestored(listener: (head: Position | null) => void): () => void {
    return this.#restored.add(listener);
  }

  /** Checks the log against this memory. Throws EventStoreUnavailable. */
  async check(): Promise<void> {
    const { known } = this.head;
    if (known === null) return; // nothing to compare
    const landmark = this.#landmark;
    const { restores } = this;
    const [newest, idThere] = await Promise.all([
      this.#reader.newest(this.#prefixes),
      landmark === null ? null : this.#reader.idAt(landmark.position),
    ]);
    if (restores !== this.restores) return; // detected in the meantime
    const isOlder = newest === null || newest < known || (idThere !== null && idThere !== landmark?.id);
    if (!isOlder) return this.head.learn(newest);
    this.restores++;
    this.#landmark = null;
    this.head.reset(newest);
    this.#restored.call(newest);
  }
}
