/** What an adapter finds out about its own server, for `doctor`. */
export interface Diagnosis {
  /** What was looked at, in a few words. */
  readonly check: string;
  readonly isGood: boolean;
  /** What was seen; when it is bad, also what to do. */
  readonly says: string;
}
