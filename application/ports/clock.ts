/** What time it is comes into the core through here, so that tests decide it. */
export interface Clock {
  /** Real time, milliseconds since 1970 UTC: the same in all processes of a deployment, to a fraction of a second. */
  now(): number;
}

/** Time as it passes inside this process: for pauses and time-outs. Nothing is dated by it. */
export interface Stopwatch {
  /** Milliseconds that only go forward. */
  elapsedMs(): number;
  /** Resolves after `ms`; earlier when `signal` aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}
