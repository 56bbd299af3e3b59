// Long-running work on read models, for operators: rebuilding them, verifying them against the events, and building them as they were
// (architecture §6).
import type { Timestamp } from '../../domain/kernel/time.ts';

/** Another process is doing work that only one process may do at a time. The message names the work. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** The table with the progress of copies in a schema of `asOf`. Its presence shows that this program made the schema. */
export const COPIES_TABLE = 'quita_as_of';

/** The schema can't hold the read models. The message says why. */
export class AsOfRefused extends Error {
  override name = 'AsOfRefused';
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

export type Moment = { readonly time: Timestamp } | { readonly position: string };

interface AsOfResult {
  readonly position: string;
  readonly readModels: readonly {
    readonly readModel: string;
    readonly events: number;
    /** Streams that the copy doesn't follow to the end, because it can't process one of their events. */
    readonly parked: number;
  }[];
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
  /**
   * Builds read models as they were after the last event at or before a moment, in a schema of their own, and leaves the live ones alone.
   * `moment`: a time (real time, when the store recorded the events) or a position of the log. Throws AsOfRefused and AlreadyRunning. If
   * interrupted, the next call with the same moment resumes it.
   */
  asOf(
    wish: { readonly moment: Moment; readonly schema: string; readonly names: readonly string[] },
    signal: AbortSignal,
    onProgress: (progress: WorkProgress) => void,
  ): Promise<AsOfResult>;
  /** Removes a schema that `asOf` made. Throws AsOfRefused for any other, and AlreadyRunning. */
  dropAsOf(schema: string): Promise<void>;
}
