// The institution's clock, which may differ from everybody else's.

export class BankClock {
  /** Milliseconds that the institution's clock is ahead of this machine's; negative if it is behind. */
  offsetMs = 0;

  /** Returns milliseconds since 1970, as the institution sees them. */
  now(): number {
    return Date.now() + this.offsetMs;
  }
}
