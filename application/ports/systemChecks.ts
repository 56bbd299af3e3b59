// Checks of the deployment, for operators.
import type { AnchorState } from './auditAccess.ts';

/** The result of a check. `says` is one sentence: the state, or the problem and its remedy. */
export interface Finding {
  readonly check: string;
  readonly isGood: boolean;
  readonly says: string;
}

/** Reports of other parts of the platform. */
export interface OwnReports {
  /** Returns what operators should do about provider connections, one sentence each. */
  connectionProblems(): Promise<readonly string[]>;
  /** Returns the oldest orders that institutions have not answered for more than a day. */
  unansweredOrders(): Promise<readonly string[]>;
  auditStatus(): Promise<{
    readonly size: number;
    readonly stopped: string | null;
    readonly lagSeconds: number | null;
    readonly anchors: readonly Pick<AnchorState, 'anchor' | 'failures' | 'error'>[];
  }>;
}

/** A role that only one process has at a time: `projector`, `reactor`, a rebuild or a verification. */
export interface Leader {
  readonly role: string;
  /** When its connection was opened. */
  readonly since: string;
  /** Whether it renewed its lease in time. Otherwise another process takes over. */
  readonly isAlive: boolean;
  /** The address of its process as the database sees it; null if it is on the same machine. */
  readonly address: string | null;
}

export interface SystemChecks {
  /** The version of this program, and when this process started. */
  readonly version: string;
  readonly startedAt: string;
  /** Runs all checks, one after the other. Throws if a store doesn't answer. */
  run(reports: OwnReports): Promise<readonly Finding[]>;
  leaders(): Promise<readonly Leader[]>;
}
