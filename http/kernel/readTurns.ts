// Reads of one account take turns in each process, so that its slow lists leave connections to the reads of other accounts (rule E8).

/** Reads of an account at once: half of the connections for reads (infrastructure/boot/storage.ts). */
export const READS_AT_ONCE = 2;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

export class ReadTurns {
  readonly #accounts = new Map<string, Turns>();

  /** Runs the read in the account's turn. The reads that wait count as requests in progress, which bounds them (admission.ts). */
  async run<T>(account: string, read: () => Promise<T>): Promise<T> {
    const turns = this.#accounts.get(account) ?? { running: 0, waiting: [] };
    this.#accounts.set(account, turns);
    if (turns.running < READS_AT_ONCE) turns.running += 1;
    else await new Promise<void>((resolve) => turns.waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if (--turns.running === 0) this.#accounts.delete(account);
    }
  }
}
