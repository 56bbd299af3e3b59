// The newest place of a log that this process knows of, and everybody who wants to hear of a newer one.

/** `Place`: a position or a number, which grows along the log. */
export class KnownHead<Place extends string | number | null> {
  #known: Place;
  readonly #listeners = new Set<(head: NonNullable<Place>) => void>();
  readonly #onError: (error: unknown) => void;

  /** `known`: of an empty log what stands before every place, null or 0. */
  constructor(known: Place, onError: (error: unknown) => void) {
    this.#known = known;
    this.#onError = onError;
  }

  get known(): Place {
    return this.#known;
  }

  /** An older or equal head changes nothing. */
  learn(head: Place): void {
    if (head === null || (this.#known !== null && head <= this.#known)) return;
    this.#known = head;
    for (const listener of [...this.#listeners]) {
      try {
        listener(head);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** The log is not the one that was known. Listeners are not called: they wait for a head beyond this one. */
  reset(head: Place): void {
    this.#known = head;
  }

  onHead(listener: (head: NonNullable<Place>) => void): () => void {
    const own = (head: NonNullable<Place>): void => listener(head); // the same function may be registered twice
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }
}
