// How many things are under way for each key: connections of an address, downloads of a link. A key without any takes no memory.

export class KeyedCount {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Counts one more, and returns how to count it no longer; further calls change nothing. */
  add(key: string): () => void {
    this.#counts.set(key, this.of(key) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = this.of(key) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}
