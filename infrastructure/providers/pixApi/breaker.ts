// The circuit breaker of one connection. It opens after 5 failures in a row; after a pause one call at a time tests the institution.
import type { Stopwatch } from '../../../application/ports/system.ts';

const FAILURES_TO_OPEN = 5;

export type Circuit = 'closed' | 'open' | 'halfOpen';

export class Breaker {
  readonly #stopwatch: Stopwatch;
  readonly #pauseMs: number;
  #failures = 0;
  /** null: closed. */
  #openedAt: number | null = null;
  #isProbing = false;

  constructor(stopwatch: Stopwatch, pauseMs: number) {
    this.#stopwatch = stopwatch;
    this.#pauseMs = pauseMs;
  }

  get circuit(): Circuit {
    if (this.#openedAt === null) return 'closed';
    return this.#stopwatch.elapsedMs() - this.#openedAt >= this.#pauseMs ? 'halfOpen' : 'open';
  }

  /** Runs the call, or returns `whenOpen` without it. */
  async run<T>(call: () => Promise<T>, isFailure: (result: T) => boolean, whenOpen: T): Promise<T> {
    const { circuit } = this;
    if (circuit === 'open' || (circuit === 'halfOpen' && this.#isProbing)) return whenOpen;
    const isProbe = circuit === 'halfOpen';
    this.#isProbing = isProbe || this.#isProbing;
    try {
      const result = await call();
      this.#record(isFailure(result));
      return result;
    } finally {
      if (isProbe) this.#isProbing = false;
    }
  }

  #record(isFailure: boolean): void {
    this.#failures = isFailure ? this.#failures + 1 : 0;
    if (!isFailure) this.#openedAt = null;
    else if (this.#failures >= FAILURES_TO_OPEN) this.#openedAt = this.#stopwatch.elapsedMs();
  }
}
