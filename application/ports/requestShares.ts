// Rate limits per minute, shared by all processes of a deployment. Each process takes shares of a minute's remaining limit in advance, so
// that requests need no query (ADR 0010).

/** A process's request for shares of one minute. */
export interface ShareRequest {
  /** The limited party: a key, an account and mode, or an address. */
  readonly name: string;
  /** Limit of requests per minute, at least 1. */
  readonly perMinute: number;
  /** `began` of the minute whose shares the process holds; null: none. */
  readonly began: number | null;
  /** Number of requests admitted without a share, which count even beyond the limit. Negative: shares returned. */
  readonly owed: number;
  /** Number of waiting requests. */
  readonly waiting: number;
  /** Shares wanted for future requests. At most a quarter of the remaining limit is granted. */
  readonly ahead: number;
}

export interface ShareGrant {
  /** Identifies the minute. */
  readonly began: number;
  /** Remaining time of the minute, in milliseconds. */
  readonly leftMs: number;
  /** Number of shares granted to the process, including `owed`. */
  readonly granted: number;
  /** Number of shares granted to all processes so far. */
  readonly taken: number;
}

/** Returns grants by name, without those for a minute (`began`) that is over. `began` null: starts a minute if none is running. */
export type TakeShares = (requests: readonly ShareRequest[]) => Promise<ReadonlyMap<string, ShareGrant>>;

export interface RequestMinutes {
  /** Removes minutes that are long over, and with them clients' addresses, which serve no other purpose. */
  forgetOldMinutes(): Promise<void>;
}
