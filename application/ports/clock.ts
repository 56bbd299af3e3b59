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
