// Overload is refused at the door (503 with Retry-After), before it makes everything slow: too many requests in progress, or an event
// loop that is late. One account's requests do not take the places of the others.

import { type Repeating, repeating } from '../../application/ports/repeating.ts';

export const OVERLOAD: OverloadOptions = { requestsMax: 512, lagMsMax: 1_000 };

export interface OverloadOptions {
  /** From so many requests in progress; twice as many are never let in. Waiting for a client's bytes is no progress. */
  readonly requestsMax: number;
  /** From so much lag of the event loop that lasts. */
  readonly lagMsMax: number;
}

const SAMPLE_MS = 100;
/** In progress at most, as a multiple of `requestsMax`, when accounts with few requests are let in beside one with many. */
const HARD_FACTOR = 2;

/** The place of one request. */
export interface Place {
  /** Counts it for its account. false: the account has its share of the places already, and there are none left. */
  claim(account: string): boolean;
  /**
   * While a request waits, for its client to send the body or for its turn, it is not in progress: however long that takes, no other
   * request is refused for it. It may wait for several things at once.
   */
  waiting<T>(sent: Promise<T>): Promise<T>;
  /** Once or more often. */
  leave(): void;
}

/** Of a request that is answered however many are in progress. */
export const UNCOUNTED: Place = { claim: () => true, waiting: (sent) => sent, leave: () => undefined };

export class Overload {
  readonly #options: OverloadOptions;
  readonly #now: () => number;
  readonly #sampling: Repeating;
  readonly #ofAccount = new Map<string, number>();
  #inProgress = 0;
  #sampledAt: number;
  /** Of the last two samples: a process that was stopped for a moment is not overloaded. */
  #lags: readonly [number, number] = [0, 0];

  constructor(options: OverloadOptions = OVERLOAD, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
    this.#sampledAt = now();
    this.#sampling = repeating(SAMPLE_MS, () => this.sample());
  }

  /** The lag since the last sample; called by a timer. */
  sample(): void {
    const now = this.#now();
    this.#lags = [this.#lags[1], now - this.#sampledAt - SAMPLE_MS];
    this.#sampledAt = now;
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  close(): void {
    void this.#sampling.stop();
  }

  /** null: there is no place, whoever asks. */
  enter(): Place | null {
    const { requestsMax, lagMsMax } = this.#options;
    if (Math.min(...this.#lags) >= lagMsMax || this.#inProgress >= HARD_FACTOR * requestsMax) return null;
    this.#inProgress += 1;
    let account: string | null = null;
    let isIn = true;
    let waits = 0;
    return {
      claim: (of) => {
        const own = this.#ofAccount.get(of) ?? 0;
        if (!this.#mayHaveOneMore(own)) return false;
        account = of;
        this.#ofAccount.set(of, own + 1);
        return true;
      },
      waiting: async (sent) => {
        waits += 1;
        if (waits === 1) this.#inProgress -= 1;
        try {
          return await sent;
        } finally {
          waits -= 1;
          if (waits === 0) this.#inProgress += 1;
        }
      },
      leave: () => {
        if (!isIn) return;
        isIn = false;
        this.#inProgress -= 1;
        if (account !== null) this.#release(account);
      },
    };
  }

  /** Beyond `requestsMax` those are let in that have less than an even share. The asking request itself is in progress already. */
  #mayHaveOneMore(own: number): boolean {
    const { requestsMax } = this.#options;
    if (this.#inProgress <= requestsMax) return true;
    return own * this.#ofAccount.size < requestsMax;
  }

  #release(account: string): void {
    const left = (this.#ofAccount.get(account) ?? 1) - 1;
    if (left === 0) this.#ofAccount.delete(account);
    else this.#ofAccount.set(account, left);
  }
}
