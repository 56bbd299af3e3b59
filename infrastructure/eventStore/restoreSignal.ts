// Tells those who remember something of the log that it turned out to be another one.

export class RestoreSignal<Head> {
  readonly #listeners = new Set<(head: Head) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns the undo. */
  listen(listener: (head: Head) => void): () => void {
    const own = (head: Head): void => listener(head); // the same function may be registered twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(head: Head): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(head);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
