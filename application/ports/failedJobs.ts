// The queues for operators: counts, and failed jobs, which they can retry.
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { JobPayload } from './jobs.ts';

export interface FailedJob {
  readonly id: string;
  readonly queue: string;
  readonly tenant: Tenant;
  /** `failed`: permanently; `retry`: another attempt follows automatically; `awaits_upgrade`: only a newer version can run it. */
  readonly state: 'failed' | 'retry' | 'awaits_upgrade';
  readonly attempts: number;
  readonly error: string;
  readonly failedAt: string;
  /** null: none. */
  readonly nextAttemptAt: string | null;
}

/** Jobs of a queue. Each count stops at 10,000. */
export interface QueueState {
  readonly queue: string;
  readonly ready: number;
  readonly running: number;
  /** Wait for their next attempt. */
  readonly retry: number;
  /** Failed permanently. */
  readonly failed: number;
  /** Since when the oldest of the counted ready jobs waits; null: none is ready. */
  readonly oldestAt: string | null;
}

export interface FailedJobs {
  /** Returns the state of each queue; empty if no worker has run on this database yet. */
  queues(): Promise<readonly QueueState[]>;
  /** Returns failed jobs of one queue, or of all (null): permanent failures first, then by newest failure. `total` ignores `limit`. */
  list(queue: string | null, limit: number): Promise<{ readonly jobs: readonly FailedJob[]; readonly total: number }>;
  /** Retries permanently failed jobs, by id, by queue, or all of them. Returns the jobs that it restarts. */
  redrive(which: {
    readonly id: string | null;
    readonly queue: string | null;
  }): Promise<readonly { readonly id: string; readonly queue: string; readonly payloads: readonly JobPayload[] }[]>;
}
