// The subscriptions that are open, so that a fault can end them.
import type { CallError } from './errors.ts';

/** null ends with status OK, which the client takes for a normal end. */
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
