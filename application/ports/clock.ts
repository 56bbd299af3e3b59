/** Real time and randomness come into the core through here, so that tests decide them. */
export interface Clock {
  /** Real time, milliseconds since 1970 UTC: the same in all processes of a deployment, to a fraction of a second. */
  now(): number;
}
