// Long-running work on read models, for operators: rebuilding them, and verifying them against the events (architecture §6).

/** Another process is doing work that only one process may do at a time. The message names the work. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** Progress of long-running work. `share`: from 0 to 1. */
export interface WorkProgress {
  readonly share: number;
  readonly what: string;
}

interface VerifyFindings {
  readonly position: string | null;
  readonly rows: number;
  readonly differenceCount: number;
  /** The first 100 differences. A null `live` or `replayed` means that the row is missing there. */
  readonly differences: readonly {
    readonly table: string;
    readonly live: string | null;
    readonly replayed: string | null;
  }[];
  /** Streams that were excluded, from these revisions on. */
  readonly parked: readonly { readonly consumer: string; readonly stream: string; readonly revision: number }[];
}

export interface ReadModelWork {
  /** The names of the read models, for `rebuild`. */
  readonly names: readonly string[];
  /**
   * Rebuilds read models beside the live copies and swaps them: `all`, or one of `names`. Returns a report for each. Throws AlreadyRunning.
   * If interrupted, the next call resumes it.
   */
  rebuild(
    name: string,
    signal: AbortSignal,
    onProgress: (progress: WorkProgress) => void,
  ): Promise<readonly { readonly projection: string; readonly events: number; readonly seconds: number }[]>;
  /**
   * Compares every read model with a replay of the log, and each row with the fold of its stream. Throws AlreadyRunning. If interrupted, it
   * leaves nothing behind.
   */
  verify(signal: AbortSignal, onProgress: (progress: WorkProgress) => void): Promise<VerifyFindings>;
}
