// The institution’s clock, which may differ from this machine’s.

export class BankClock {
  /** Milliseconds by which the institution’s clock is ahead of this machine’s. Negative if it is behind. */
  offsetMs = 0;

  /** Returns the institution’s time in milliseconds since 1970. */
  now(): number {
    return Date.now() + this.offsetMs;
  }
}
