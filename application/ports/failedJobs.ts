// Jobs that failed, for an operator: listed, and opened again.
import type { JobPayload } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';

export interface FailedJob {
  readonly id: string;
  readonly queue: string;
  readonly tenant: Tenant;
  /** `failed`: for good; `retry`: another attempt follows by itself. */
  readonly state: 'failed' | 'retry';
  readonly attempts: number;
  readonly error: string;
  readonly failedAt: string;
  /** null: none. */
  readonly nextAttemptAt: string | null;
}

export interface FailedJobs {
  /** Returns those of one queue, or all (null); those that failed for good first, then the newest failure. `total` counts all there are. */
  list(queue: string | null, limit: number): Promise<{ readonly jobs: readonly FailedJob[]; readonly total: number }>;
  /** Begins what failed for good again, by id, by queue, or all of it. Returns what it begins. */
  redrive(which: {
    readonly id: string | null;
    readonly queue: string | null;
  }): Promise<readonly { readonly id: string; readonly queue: string; readonly payloads: readonly JobPayload[] }[]>;
}
