// Reports of the checks of the deployment, which a process makes in the background, because they take many statements.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Finding } from './systemChecks.ts';

export interface SystemReport {
  readonly findings: readonly Finding[];
  /** When its checks ended. */
  readonly madeAt: Timestamp;
}

export interface SystemReports {
  /** Returns the newest report since this process started, or null, and whether checks are running. */
  newest(): { readonly report: SystemReport | null; readonly isChecking: boolean };
  /** Runs the checks in the background of this process, one run at a time. Joins the current run. Resolves at its end; never rejects. */
  make(check: () => Promise<readonly Finding[]>): Promise<void>;
}
