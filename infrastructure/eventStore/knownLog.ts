// An adapter's knowledge of the log that it follows: its head, and whether it was replaced by another log.
import { type Position, UnknownPosition } from '../../application/ports/eventStore.ts';

/** Listeners for values. If one throws, the others are still called. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds a listener. Returns a function that removes it. */
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

/** The head of a log, as this process knows it. `Place` is a position or a number that grows along the log. */
export class KnownHead<Place extends string | number | null> {
  #known: Place;
  readonly #listeners: Listeners<NonNullable<Place>>;

  /** `known`: the value for an empty log, null or 0. */
  constructor(known: Place, onError: (error: unknown) => void) {
    this.#known = known;
    this.#listeners = new Listeners(onError);
  }

  get known(): Place {
    return this.#known;
  }

  /** Sets a newer head and calls the listeners. Ignores an older or equal one. */
  learn(head: Place): void {
    if (head === null || (this.#known !== null && head <= this.#known)) return;
    this.#known = head;
    this.#listeners.call(head);
  }

  /** Sets the head of another log. Listeners are not called: they wait for a later head. */
  reset(head: Place): void {
    this.#known = head;
  }

  onHead(listener: (head: NonNullable<Place>) => void): () => void {
    return this.#listeners.add(listener);
  }
}

/** Returns the error for a follower whose log was restored to an older state. `found`: the log's content at the follower's position. */
export const restoredLog = (
  at: Position | null,
  found: 'no event' | 'another event',
  cause?: unknown,
): UnknownPosition =>
  new UnknownPosition(
    `the event store has ${found} at position ${at}, up to which it was already processed: was a backup restored? Restore both stores, the event store last`,
    { cause },
  );
