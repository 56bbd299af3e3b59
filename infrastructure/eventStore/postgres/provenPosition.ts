// A subscription's position, and the proof that the log still has the events it read.
import { restoredLog } from '../knownLog.ts';
import type { LogMemory } from './logMemory.ts';
import { type LogPage, placeOf, positionOf, type Reader } from './reader.ts';

interface Sources {
  readonly reader: Pick<Reader, 'lookAt'>;
  readonly memory: Pick<LogMemory, 'connections' | 'restores'>;
}

/** The proof is checked after every new connection. */
export class ProvenPosition {
  /** Every matching event up to this place was read. */
  at: number;
  /** The last event read. At the start it is the starting place; the first proof adds that event's id. */
  #last: { readonly place: number; readonly id: string | null };
  /** Number of connections at the last proof; -1 before the first. */
  #connections = -1;
  #restores: number;
  readonly #sources: Sources;

  constructor(sources: Sources, at: number) {
    this.#sources = sources;
    this.at = at;
    this.#last = { place: at, id: null };
    this.#restores = sources.memory.restores;
  }

  move({ events, upTo }: LogPage): void {
    const last = events.at(-1);
    if (last !== undefined) this.#last = { place: placeOf(last.position), id: last.id };
    this.at = upTo;
  }

  /** Whether no connection was opened since the proof, so that all reads since then were of the same log. */
  get isProved(): boolean {
    return this.#connections === this.#sources.memory.connections;
  }

  /** Throws UnknownPosition, EventStoreUnavailable. */
  async prove(): Promise<void> {
    const { reader, memory } = this.#sources;
    const { place, id } = this.#last;
    // Read before the query: if the query opens a connection, the proof is repeated.
    const { connections, restores } = memory;
    const found = await reader.lookAt(place);
    if (found.head < this.at) throw restoredLog(positionOf(this.at), 'no event');
    const isOther = id !== null && found.id !== null && found.id !== id;
    // A filter passes places without reading their events. After a restore, it is unknown whether they were the same.
    const isDoubtful = restores !== this.#restores && place !== this.at;
    if (isOther || isDoubtful) throw restoredLog(positionOf(this.at), 'another event');
    if (id === null) this.#last = { place, id: found.id };
    this.#restores = restores;
    this.#connections = connections;
  }
}
