// Work on the same thing, one after the other.
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Stopwatch } from '../ports/clock.ts';

/** Runs work one at a time per key, in order of arrival, inside this process. A failure reaches its own caller only. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }

  /** Returns whether some work of the key runs or waits. */
  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }
}

/** Longest wait for another request with the same key (K4). */
const WAIT_MS_MAX = 10_000;

/** Requests with the same idempotency key, one after the other (K4). */
export class InFlightRequests {
  readonly #running = new KeyedLock();
  readonly #stopwatch: Stopwatch;
  readonly #keyParam: string;

  /** `keyParam`: where the key was sent. */
  constructor(stopwatch: Stopwatch, keyParam: string) {
    this.#stopwatch = stopwatch;
    this.#keyParam = keyParam;
  }

  /** Runs `create` for the id that the key makes. Waits for another request with it; too long is `idempotency_request_in_progress`. */
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
    work.catch(() => undefined); // after the time-out nothing awaits it
    try {
      return await Promise.race([work, timeout]);
    } finally {
      settled.abort();
    }
  }
}
