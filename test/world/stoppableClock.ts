// A clock that a test can stop, so that a slow setup has no effect.
import type { Clock } from '../../application/ports/system.ts';

export class StoppableClock implements Clock {
  #stoodAt: number | null = null;

  readonly now = (): number => this.#stoodAt ?? Date.now();

  stop(): void {
    this.#stoodAt = Date.now();
  }
  /** Advances the stopped clock. No-op while it runs. */
  pass(ms: number): void {
    if (this.#stoodAt !== null) this.#stoodAt += ms;
  }
  /** Returns to real time at once. */
  start(): void {
    this.#stoodAt = null;
  }
}
