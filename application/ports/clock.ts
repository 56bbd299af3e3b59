/** Real time and randomness come into the core through here, so that tests decide them. */
export interface Clock {
  /** Real time, milliseconds since 1970 UTC. */
  now(): number;
}
