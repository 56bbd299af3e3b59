// Pauses between attempts and before slow responses. They don’t keep the process alive, and they end with `close`.

export class Pauses {
  readonly #pending = new Map<NodeJS.Timeout, () => void>();

  /** Runs `then` after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, then: () => void): () => void {
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      then();
    }, ms);
    timer.unref();
    this.#pending.set(timer, () => undefined);
    return () => {
      clearTimeout(timer);
      this.#pending.delete(timer);
    };
  }

  /** Resolves after `ms` milliseconds, or when the simulator closes. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#pending.delete(timer);
        resolve();
      }, ms);
      timer.unref();
      this.#pending.set(timer, resolve);
    });
  }

  close(): void {
    for (const [timer, release] of this.#pending) {
      clearTimeout(timer);
      release();
    }
    this.#pending.clear();
  }
}
