/** The only source of the time of day in the core, so that tests and simulators control it. */
export interface Clock {
  /** Real time, milliseconds since 1970 UTC: the same in all processes of a deployment, to a fraction of a second. */
  now(): number;
}

/** Monotonic time of this process, for pauses and time-outs. Facts are never dated by it. */
export interface Stopwatch {
  /** Milliseconds since some moment before; never decreases. */
  elapsedMs(): number;
  /** Resolves after `ms`; earlier when `signal` aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}
