// Counts concurrent uses by key, such as connections of an address or downloads of a link. Keys with a count of 0 take no memory.

export class KeyedCount {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Adds one to the key's count. Returns a function that subtracts it again; calling it more than once has no effect. */
  add(key: string): () => void {
    this.#counts.set(key, this.of(key) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const count = this.of(key) - 1;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    };
  }
}
