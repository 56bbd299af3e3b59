// Runs requests with the same idempotency key one after the other (K4).
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Stopwatch } from '../ports/system.ts';

/** Longest wait for other requests with the same key (K4). */
const WAIT_MS_MAX = 10_000;

export class InFlightRequests {
  /** For each id with a running request: begins the requests that wait for it, in order of arrival. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #stopwatch: Stopwatch;
  readonly #keyParam: string;

  /** `keyParam`: the name of the header or field that contains the key. */
  constructor(stopwatch: Stopwatch, keyParam: string) {
    this.#stopwatch = stopwatch;
    this.#keyParam = keyParam;
  }

  /** Returns the refusal of a request while another one with its key is running, in this process or another one. */
  stillRunning(): Rejection {
    const param = this.#keyParam;
    return reject('idempotency_request_in_progress', `A request with this ${param} is still running.`, { param });
  }

  /**
   * Runs `create`, after all earlier requests for the same id. Rejects with `idempotency_request_in_progress` if it has waited for 10 s;
   * `create` then never runs (K5).
   */
  async run<T>(id: string, create: () => Promise<T>): Promise<T | Rejection> {
    if (!(await this.#hasTurn(id))) return this.stillRunning();
    try {
      return await create();
    } finally {
      this.#beginNext(id);
    }
  }

  /** Returns whether the request's turn came in time. */
  async #hasTurn(id: string): Promise<boolean> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      this.#waiting.set(id, new Set());
      return true;
    }
    const settled = new AbortController();
    const timeout = this.#stopwatch.pause(WAIT_MS_MAX, settled.signal);
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
    waiting.add(begin);
    await Promise.race([turn, timeout]);
    settled.abort();
    return !waiting.delete(begin); // `#beginNext` has already removed a request whose turn came
  }

  #beginNext(id: string): void {
    const waiting = this.#waiting.get(id) as Set<() => void>;
    const [begin] = waiting;
    if (begin === undefined) {
      this.#waiting.delete(id);
    } else {
      waiting.delete(begin);
      begin();
    }
  }
}
