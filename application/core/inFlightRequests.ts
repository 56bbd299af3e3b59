// Runs requests with the same idempotency key one after the other (K4).
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Stopwatch } from '../ports/system.ts';
import { KeyedLock } from './keyedLock.ts';

/** Longest wait for another request with the same key (K4). */
const WAIT_MS_MAX = 10_000;

export class InFlightRequests {
  readonly #running = new KeyedLock();
  readonly #stopwatch: Stopwatch;
  readonly #keyParam: string;

  /** `keyParam`: the name of the header or field that contains the key. */
  constructor(stopwatch: Stopwatch, keyParam: string) {
    this.#stopwatch = stopwatch;
    this.#keyParam = keyParam;
  }

  /** Runs `create`, after any running request for the same id. Rejects with `idempotency_request_in_progress` after 10 s of waiting. */
  run<T>(id: string, create: () => Promise<T>): Promise<T | Rejection> {
    const isAlone = !this.#running.isBusy(id);
    const work = this.#running.run(id, create);
    return isAlone ? work : this.#withinTime(work);
  }

  async #withinTime<T>(work: Promise<T>): Promise<T | Rejection> {
    const param = this.#keyParam;
    const late = reject('idempotency_request_in_progress', `A request with this ${param} is still running.`, { param });
    const settled = new AbortController();
    const timeout = this.#stopwatch.pause(WAIT_MS_MAX, settled.signal).then(() => late);
    work.catch(() => undefined); // after the timeout, nothing else awaits it
    try {
      return await Promise.race([work, timeout]);
    } finally {
      settled.abort();
    }
  }
}
