// A list ordered by time. Appending the newest item and reading a period stay cheap with 100,000 items.

export class ByTime<T> {
  readonly #items: T[] = [];
  readonly #timeOf: (item: T) => number;

  constructor(timeOf: (item: T) => number) {
    this.#timeOf = timeOf;
  }

  /** Items of equal time keep their order of insertion. */
  add(item: T): void {
    const time = this.#timeOf(item);
    const last = this.#items.at(-1);
    if (last === undefined || this.#timeOf(last) <= time) this.#items.push(item);
    else this.#items.splice(this.#firstAfter(time), 0, item);
  }

  /** Returns the items of a period, including both ends. */
  between(from: number, to: number): readonly T[] {
    return this.#items.slice(this.#firstAfter(from - 1), this.#firstAfter(to));
  }

  all(): readonly T[] {
    return this.#items;
  }

  #firstAfter(time: number): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#timeOf(this.#items[middle] as T) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
