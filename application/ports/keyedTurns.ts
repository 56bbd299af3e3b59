/** Runs at most `atOnce` works at a time for each key, within this process. The others wait, in the order of their arrival. */
export class KeyedTurns {
  readonly #atOnce: number;
  readonly #keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#keys.get(key) ?? { running: 0, waiting: [] };
    this.#keys.set(key, turns);
    if (turns.running < this.#atOnce) turns.running += 1;
    else await new Promise<void>((resolve) => turns.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if (--turns.running === 0) this.#keys.delete(key);
    }
  }
}
