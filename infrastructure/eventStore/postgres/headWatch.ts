// The newest head this process knows of, and everybody who waits for a newer one.

interface Waiter {
  readonly beyond: number;
  readonly wake: () => void;
}

export class HeadWatch {
  #known: number;
  readonly #listeners = new Set<(place: number) => void>();
  readonly #waiters = new Set<Waiter>();
  readonly #onError: (error: unknown) => void;

  constructor(known: number, onError: (error: unknown) => void) {
    this.#known = known;
    this.#onError = onError;
  }

  /** 0 while the log is empty. */
  get known(): number {
    return this.#known;
  }

  /** An older or equal head, or no number at all (a foreign NOTIFY), changes nothing. */
  learn(place: number): void {
    if (!Number.isSafeInteger(place) || place <= this.#known) return;
    this.#known = place;
    for (const waiter of [...this.#waiters]) if (place > waiter.beyond) waiter.wake();
    for (const listener of [...this.#listeners]) {
      try {
        listener(place);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  onHead(listener: (place: number) => void): () => void {
    const own = (place: number): void => listener(place); // the same function may be registered twice
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Resolves when the head is beyond that place, when the time is up, or when the signal is given. Never rejects. */
  async wait(beyond: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#known > beyond || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiters.delete(waiter);
        resolve();
      };
      const waiter: Waiter = { beyond, wake };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      this.#waiters.add(waiter);
    });
  }
}
