// Limits of requests a minute that all processes of a deployment keep together. Each takes shares of what a minute has left and lets
// requests in by them, so that no request has to ask (ADR 0010).

/** What a process asks of one minute. */
export interface ShareRequest {
  /** Whose minute: a key, an account and mode, an address. */
  readonly name: string;
  /** Requests a minute, at least 1. */
  readonly perMinute: number;
  /** The minute that the process holds shares of, as `began` of a grant; null: it knows of none. */
  readonly began: number | null;
  /** Requests let in without a share, which count even beyond the limit. Negative: shares given back. */
  readonly owed: number;
  /** Requests that wait. */
  readonly waiting: number;
  /** More shares for requests to come; a quarter of what is left is given at most. */
  readonly ahead: number;
}

export interface ShareGrant {
  /** Tells the minutes of a name apart. */
  readonly began: number;
  /** Until it ends, in milliseconds. */
  readonly leftMs: number;
  /** Shares that the process may use from now on, `owed` among them. */
  readonly granted: number;
  /** Shares of all processes so far. */
  readonly taken: number;
}

/** Returns grants by name; none for a minute (`began`) that is over. A request for no minute in particular begins one where none runs. */
export type TakeShares = (requests: readonly ShareRequest[]) => Promise<ReadonlyMap<string, ShareGrant>>;

export interface RequestMinutes {
  /** Forgets minutes that are long over: addresses too, which are kept for nothing else. */
  forgetOldMinutes(): Promise<void>;
}
