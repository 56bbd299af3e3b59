// Where a subscription stands, and whether the log still has what it has read: asked again after every new connection, never for a page.
import { restoredLog } from '../restoredLog.ts';
import type { LogMemory } from './logMemory.ts';
import { placeOf, positionOf } from './position.ts';
import type { LogPage, Reader } from './reader.ts';

interface Sources {
  readonly reader: Pick<Reader, 'lookAt'>;
  readonly memory: Pick<LogMemory, 'connections' | 'restores'>;
}

export class Footing {
  /** Everything up to this place was read, or is of no category asked for. */
  at: number;
  /** The last event that was read; of the place at which the subscription began the id is learnt with the first proof. */
  #last: { readonly place: number; readonly id: string | null };
  /** Over how many connections it is proved; -1: not yet. */
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

  /** No connection was opened since the proof, so that all reads since then were of the same log. */
  get isProved(): boolean {
    return this.#connections === this.#sources.memory.connections;
  }

  /** Throws UnknownPosition, EventStoreUnavailable. */
  async prove(): Promise<void> {
    const { reader, memory } = this.#sources;
    const { place, id } = this.#last;
    // Counted before the question: if that opens a connection, it is asked once more.
    const { connections, restores } = memory;
    const found = await reader.lookAt(place);
    if (found.head < this.at) throw restoredLog(positionOf(this.at), 'no event');
    const isOther = id !== null && found.id !== null && found.id !== id;
    // A filter passes places without reading what stands there: behind a restored log nothing tells whether it was the same.
    const isDoubtful = restores !== this.#restores && place !== this.at;
    if (isOther || isDoubtful) throw restoredLog(positionOf(this.at), 'another event');
    if (id === null) this.#last = { place, id: found.id };
    this.#restores = restores;
    this.#connections = connections;
  }
}
