// Workers for tests.

import type { JobPayload } from '../../../application/ports/jobs.ts';

export interface Run {
  /** The IDs of the payloads. */
  readonly items: readonly string[];
  readonly target: string | null;
}

/** A worker that records its runs, and can wait for them. */
export class Worked {
  readonly runs: Run[] = [];
  readonly payloads: JobPayload[] = [];
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];
  readonly #work: (run: Run) => Promise<void> | void;

  constructor(work: (run: Run) => Promise<void> | void = () => undefined) {
    this.#work = work;
  }
  readonly run = async (payloads: readonly JobPayload[], target: string | null): Promise<void> => {
    const items = payloads.map(({ id }) => id as string);
    this.runs.push({ items, target });
    this.payloads.push(...payloads);
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
