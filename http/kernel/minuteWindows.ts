// What came of each of many within a minute, in bounded memory: the windows used last are kept, others are forgotten.
import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;

export interface MinuteWindow {
  /** Everything. */
  count: number;
  /** Of those, what counts for one limit and not for another. */
  apart: number;
  /** Whether it was told that a limit was reached. */
  isTold: boolean;
  /** As `now` tells it. */
  readonly endsAt: number;
}

export class MinuteWindows {
  readonly #windows: LRUCache<string, MinuteWindow>;
  readonly #now: () => number;

  /** `now` in milliseconds, from any beginning. */
  constructor(remembered: number, now: () => number = () => performance.now()) {
    this.#windows = new LRUCache({ max: remembered });
    this.#now = now;
  }

  /** A window begins with its first request and lasts a minute. */
  of(name: string): MinuteWindow {
    const now = this.#now();
    const known = this.#windows.get(name);
    if (known !== undefined && now < known.endsAt) return known;
    const fresh = { count: 0, apart: 0, isTold: false, endsAt: now + MINUTE_MS };
    this.#windows.set(name, fresh);
    return fresh;
  }

  /** Whole seconds until it ends, at least 1. */
  secondsLeft({ endsAt }: MinuteWindow): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1000));
  }
}
