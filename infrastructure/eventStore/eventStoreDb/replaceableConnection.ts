// A connection that many calls share, opened when it is first needed and replaced as soon as anything was wrong with it: a client that
// has seen a failure is never trusted again.

export interface SharedConnection {
  /** Nothing more is begun on it; what runs may end. */
  drain(): void;
  close(): void;
}

export class ReplaceableConnection<T extends SharedConnection> {
  readonly #open: () => Promise<T>;
  #current: Promise<T> | null = null;
  readonly #opened = new Set<T>();
  #closed = false;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  /** Rejects as `open` does; the next call then tries anew. */
  get(): Promise<T> {
    this.#current ??= this.#begin();
    return this.#current;
  }

  /** No effect when it was replaced already. */
  replace(shared: T): void {
    if (!this.#opened.delete(shared)) return;
    this.#current = null;
    shared.drain();
  }

  close(): void {
    this.#closed = true;
    for (const shared of this.#opened) shared.close();
    this.#opened.clear();
    this.#current = null;
  }

  async #begin(): Promise<T> {
    try {
      const shared = await this.#open();
      if (this.#closed) shared.close();
      else this.#opened.add(shared);
      return shared;
    } catch (error) {
      this.#current = null;
      throw error;
    }
  }
}
