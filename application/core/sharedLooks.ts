// Looks that callers share while they wait for the same thing: one look at a time, however many callers wait.
import { LOOK_MS, type Moving } from './quiescence.ts';

/** Pause after the first look. It doubles after each further look, up to LOOK_MS, so that moves of others don't cause looks without end. */
const REST_MS = 10;

interface Waiter<Found> {
  readonly deadlineMs: number;
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

export class SharedLooks<Found> {
  readonly #moving: Moving;
  readonly #isFinal: (found: Found) => boolean;
  readonly #waiters = new Map<string, Set<Waiter<Found>>>();

  constructor(moving: Moving, isFinal: (found: Found) => boolean) {
    this.#moving = moving;
    this.#isFinal = isFinal;
  }

  /**
   * Returns the first result of `look` that is final, or the first result after `timeoutMs`. Only looks that begin after the call count.
   * `look` must do the same for all calls with this key. It gets the milliseconds that it may wait.
   */
  until(key: string, timeoutMs: number, look: (timeoutMs: number) => Promise<Found>): Promise<Found> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(key) ?? new Set();
      waiters.add({ deadlineMs: this.#moving.stopwatch.elapsedMs() + timeoutMs, resolve, reject });
      if (this.#waiters.has(key)) return;
      this.#waiters.set(key, waiters);
      void this.#serve(key, waiters, look);
    });
  }

  async #serve(key: string, waiters: Set<Waiter<Found>>, look: (timeoutMs: number) => Promise<Found>): Promise<void> {
    const { stopwatch, onMove } = this.#moving;
    let moved = new AbortController();
    const undo = onMove(() => moved.abort('moved'));
    for (let restMs = REST_MS; ; restMs = Math.min(2 * restMs, LOOK_MS)) {
      moved = new AbortController(); // before looking, so that no move is missed
      await this.#look(waiters, look);
      if (waiters.size === 0) break;
      await stopwatch.pause(restMs);
      await stopwatch.pause(LOOK_MS - restMs, moved.signal);
    }
    this.#waiters.delete(key);
    undo();
  }

  /** Looks once, and answers the callers that came before and need no further look. */
  async #look(waiters: Set<Waiter<Found>>, look: (timeoutMs: number) => Promise<Found>): Promise<void> {
    const served = [...waiters];
    const leftMs = Math.max(...served.map(({ deadlineMs }) => deadlineMs)) - this.#moving.stopwatch.elapsedMs();
    try {
      const found = await look(Math.max(leftMs, LOOK_MS));
      const nowMs = this.#moving.stopwatch.elapsedMs();
      for (const waiter of served)
        if ((this.#isFinal(found) || waiter.deadlineMs <= nowMs) && waiters.delete(waiter)) waiter.resolve(found);
    } catch (error) {
      for (const waiter of served) if (waiters.delete(waiter)) waiter.reject(error);
    }
  }
}
