// Long work on the read models, for operators: building them anew, and comparing them with the events (architecture §6).

/** Work of which one runs at a time is being done by another. The message says which. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** How far long work is: `share` from 0 to 1. */
export interface WorkProgress {
  readonly share: number;
  readonly what: string;
}

interface VerifyFindings {
  readonly position: string | null;
  readonly rows: number;
  readonly differenceCount: number;
  /** The first hundred; null: the row is missing there. */
  readonly differences: readonly {
    readonly table: string;
    readonly live: string | null;
    readonly replayed: string | null;
  }[];
  /** Streams that are left out, from these revisions on. */
  readonly parked: readonly { readonly consumer: string; readonly stream: string; readonly revision: number }[];
}

export interface ReadModelWork {
  /** Their names, as `rebuild` takes them. */
  readonly names: readonly string[];
  /**
   * Builds read models anew beside the live copies and swaps; `all` of them, or one of `names`. Returns a report of each. Throws
   * AlreadyRunning. Cut off, the next one goes on where it was.
   */
  rebuild(
    name: string,
    signal: AbortSignal,
    onProgress: (progress: WorkProgress) => void,
  ): Promise<readonly { readonly projection: string; readonly events: number; readonly seconds: number }[]>;
  /**
   * Compares every read model with a replay of the log, and each row with the fold of its stream. Throws AlreadyRunning. Cut off, it
   * leaves nothing behind.
   */
  verify(signal: AbortSignal, onProgress: (progress: WorkProgress) => void): Promise<VerifyFindings>;
}
