/** The only source of randomness in the core, so that tests and simulators control it. */
export interface Randomness {
  /** Returns `size` cryptographically random bytes, for ids and secrets. */
  bytes(size: number): Buffer;
  /** Returns a number in [0, 1), for jitter. */
  fraction(): number;
}

/** The only source of the time of day in the core, so that tests and simulators control it. */
export interface Clock {
  /** Returns real time in milliseconds since 1970 UTC. Processes of a deployment agree to within a fraction of a second. */
  now(): number;
}

/** Monotonic time of this process, for pauses and timeouts. Never used to date facts. */
export interface Stopwatch {
  /** Returns the milliseconds since an arbitrary moment. Never decreases. */
  elapsedMs(): number;
  /** Resolves after `ms`, or earlier if `signal` aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}
