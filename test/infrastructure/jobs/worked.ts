// Workers of tests.

export interface Run {
  readonly items: readonly string[];
  readonly target: string | null;
}

/** A worker that notes what it ran, and whom one can wait for. */
export class Worked {
  readonly runs: Run[] = [];
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];
  readonly #work: (run: Run) => Promise<void> | void;

  constructor(work: (run: Run) => Promise<void> | void = () => undefined) {
    this.#work = work;
  }
  readonly run = async (items: readonly string[], target: string | null): Promise<void> => {
    this.runs.push({ items, target });
    for (const { resolve } of this.#waiting.filter(({ holds }) => holds())) resolve();
    await this.#work({ items, target });
  };
  get items(): string[] {
    return this.runs.flatMap(({ items }) => items);
  }
  until(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ holds, resolve }));
  }
  count(items: number): Promise<void> {
    return this.until(() => this.items.length >= items);
  }
}
