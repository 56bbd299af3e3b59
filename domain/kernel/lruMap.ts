// A map that forgets what was not used for a while. Two generations: what is used moves to the young one; when that is full, it becomes
// the old one and the old one is forgotten. So using an entry costs no deletion, which Map pays for with a rehash sooner or later.

export class LruMap<Key, Value> {
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  readonly #generationMax: number;

  /** The `max / 2` entries used last are always remembered, and never more than `max`. */
  constructor(max: number) {
    this.#generationMax = Math.ceil(max / 2);
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size <= this.#generationMax) return;
    this.#old = this.#young;
    this.#young = new Map([[key, value]]);
    this.#old.delete(key);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
