// The newest position of our own streams that this process knows of, and everybody who wants to hear of a newer one.
import type { Position } from '../../../application/ports/eventStore.ts';

export class KnownHead {
  #position: Position | null;
  readonly #listeners = new Set<(head: Position) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(position: Position | null, onError: (error: unknown) => void) {
    this.#position = position;
    this.#onError = onError;
  }

  /** null while the log is empty. */
  get position(): Position | null {
    return this.#position;
  }

  /** An older or equal head changes nothing. */
  learn(position: Position | null): void {
    if (position === null || (this.#position !== null && position <= this.#position)) return;
    this.#position = position;
    for (const listener of [...this.#listeners]) {
      try {
        listener(position);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  onHead(listener: (head: Position) => void): () => void {
    const own = (head: Position): void => listener(head); // the same function may be registered twice
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }
}
