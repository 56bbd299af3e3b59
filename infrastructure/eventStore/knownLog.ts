// What an adapter knows of the log that it follows: the newest place, and that the log turned out to be another one.
import { type Position, UnknownPosition } from '../../application/ports/eventStore.ts';

/** Functions that are called with every value. One that throws does not keep the value from the others. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns the undo. */
  add(listener: (value: Value) => void): () => void {
    const own = (value: Value): void => listener(value); // the same function may be added twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  call(value: Value): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** The newest place of a log that this process knows of. `Place`: a position or a number, which grows along the log. */
export class KnownHead<Place extends string | number | null> {
  #known: Place;
  readonly #listeners: Listeners<NonNullable<Place>>;

  /** `known`: of an empty log what stands before every place, null or 0. */
  constructor(known: Place, onError: (error: unknown) => void) {
    this.#known = known;
    this.#listeners = new Listeners(onError);
  }

  get known(): Place {
    return this.#known;
  }

  /** An older or equal head changes nothing. */
  learn(head: Place): void {
    if (head === null || (this.#known !== null && head <= this.#known)) return;
    this.#known = head;
    this.#listeners.call(head);
  }

  /** The log is not the one that was known. Listeners are not called: they wait for a head beyond this one. */
  reset(head: Place): void {
    this.#known = head;
  }

  onHead(listener: (head: NonNullable<Place>) => void): () => void {
    return this.#listeners.add(listener);
  }
}

/** Returns the error of a follower whose log was restored to an older state. `found`: what the log has where the follower stands. */
export const restoredLog = (
  at: Position | null,
  found: 'no event' | 'another event',
  cause?: unknown,
): UnknownPosition =>
  new UnknownPosition(
    `the event store has ${found} at position ${at}, up to which it was already processed: was a backup restored? Restore both stores, the event store last`,
    { cause },
  );
