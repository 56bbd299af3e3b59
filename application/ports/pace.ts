// Spaces turns of work that each have a fixed cost. A burst of turns begins at once. An endless series of turns is spaced at intervals, so
// that each finds more to do.

interface Rhythm {
  readonly everyMs: number;
  /** Number of turns without a wait. One is regained after each interval. */
  readonly burst: number;
}

export class Pace {
  readonly #everyMs: number;
  readonly #burst: number;
  #turns: number;
  #atMs = Number.NEGATIVE_INFINITY;

  constructor({ everyMs, burst }: Rhythm) {
    this.#everyMs = everyMs;
    this.#burst = burst;
    this.#turns = burst;
  }

  /** Counts a turn at `nowMs`, on a monotonic clock. Returns how many milliseconds it must wait. */
  waitMs(nowMs: number): number {
    this.#turns = Math.min(this.#burst, this.#turns + (nowMs - this.#atMs) / this.#everyMs) - 1;
    this.#atMs = nowMs;
    return Math.max(0, -this.#turns * this.#everyMs);
  }
}
