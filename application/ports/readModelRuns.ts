// Rebuilds and verifications of read models that operators start in a running program, and their progress.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { WorkProgress } from './readModelWork.ts';

/** The outcome of a run, without rows, because these hold personal data. */
export interface RunOutcome {
  /** Empty for a verification. */
  readonly rebuilt: readonly { readonly readModel: string; readonly events: number; readonly seconds: number }[];
  /** null for a rebuild. */
  readonly verified: {
    readonly rows: number;
    readonly differences: number;
    /** The tables of the first differences. */
    readonly tables: readonly string[];
    readonly parkedStreams: number;
  } | null;
}

/** The work of a run. `readModel`: the read model to rebuild; `all` for all of them, and for a verification. */
export interface WantedRun {
  readonly work: 'rebuild' | 'verify';
  readonly readModel: string;
  /** Who started it, as in event metadata. */
  readonly by: string;
}

export interface ReadModelRun extends WantedRun, WorkProgress {
  readonly id: string;
  /** `lost`: its process has not reported for some time. */
  readonly state: 'running' | 'done' | 'failed' | 'lost';
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
  readonly outcome: RunOutcome | null;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
}

export interface ReadModelRuns {
  /** Returns the runs that this process knows, of any process, newest first. A process knows those that ran since it started. */
  list(): readonly ReadModelRun[];
  /** Runs `work` in the background of this process. The signal aborts when the process stops. */
  start(
    wanted: WantedRun,
    work: (signal: AbortSignal, onProgress: (progress: WorkProgress) => void) => Promise<RunOutcome>,
  ): ReadModelRun;
}
