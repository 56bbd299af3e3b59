// A clock that a test can stop, so that it does not matter how long a scene takes to set.
import type { Clock } from '../../application/ports/clock.ts';

export class StoppableClock implements Clock {
  #stoodAt: number | null = null;

  readonly now = (): number => this.#stoodAt ?? Date.now();

  stop(): void {
    this.#stoodAt = Date.now();
  }
  /** While it stands: so much passes. */
  pass(ms: number): void {
    if (this.#stoodAt !== null) this.#stoodAt += ms;
  }
  /** It is real time at once. */
  start(): void {
    this.#stoodAt = null;
  }
}
