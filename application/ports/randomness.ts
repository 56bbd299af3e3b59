/** Chance comes into the core through here, so that tests and simulators decide it. */
export interface Randomness {
  /** `size` bytes that nobody can guess: ids and secrets are made of them. */
  bytes(size: number): Buffer;
  /** At least 0 and below 1: keeps apart what would otherwise meet again and again. */
  fraction(): number;
}
