// Tracks the open subscriptions, so that faults can end them.
import type { CallError } from './errors.ts';

/** Ends the subscription with an error, or with status OK if null, which the client treats as a normal end. */
export type EndSubscription = (error: CallError | null) => void;

export class OpenSubscriptions {
  readonly #open = new Set<EndSubscription>();

  get count(): number {
    return this.#open.size;
  }

  add(end: EndSubscription): void {
    this.#open.add(end);
  }

  delete(end: EndSubscription): void {
    this.#open.delete(end);
  }

  endAll(error: () => CallError | null): void {
    for (const end of [...this.#open]) end(error());
  }
}
