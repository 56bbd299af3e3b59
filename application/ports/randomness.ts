/** The only source of randomness in the core, so that tests and simulators control it. */
export interface Randomness {
  /** Returns `size` cryptographically random bytes, for ids and secrets. */
  bytes(size: number): Buffer;
  /** Returns a number in [0, 1), for jitter. */
  fraction(): number;
}
