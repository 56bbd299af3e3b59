// Lists failed jobs and retries them, for an operator beside the running program. Jobs are idempotent.
import type { FailedJobs, FailedJob as ListedJob, QueueState } from '../../application/ports/failedJobs.ts';
import type { JobPayload } from '../../application/ports/jobs.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PayloadFailure } from './claims.ts';
import { hasTables } from './installation.ts';
import { JOBS_CHANNEL, lanesOf, noticeOf, tenantOf } from './lanes.ts';
import { LIST_FAILED, QUEUE_STATES, REOPEN } from './statements.ts';

export interface FailedJob extends ListedJob {
  /** '' for none. */
  readonly target: string;
  readonly payloads: readonly JobPayload[];
  /** The payloads whose work failed, with the reasons. */
  readonly failures: readonly PayloadFailure[];
}

interface Row extends Omit<FailedJob, 'tenant' | 'failedAt' | 'nextAttemptAt'> {
  readonly tenant: string;
  readonly failed_at: string;
  readonly next_attempt_at: string | null;
  readonly total: number;
}

/** Lists failed jobs of one queue, or of all: permanently failed ones first, then by newest failure. `total` counts all of them. */
export const listFailedJobs = async (
  db: Sql,
  queue: string | null,
  limit: number,
): Promise<{ readonly jobs: readonly FailedJob[]; readonly total: number }> => {
  if (!(await hasTables(db))) return { jobs: [], total: 0 };
  const { rows } = await db.query<Row>(LIST_FAILED, [queue, limit]);
  const jobs = rows.map(
    ({ total: _total, tenant, failed_at: failedAt, next_attempt_at: nextAttemptAt, ...row }): FailedJob => ({
      ...row,
      tenant: tenantOf(tenant),
      failedAt,
      nextAttemptAt,
    }),
  );
  return { jobs, total: rows[0]?.total ?? 0 };
};

/** Retries permanently failed jobs, by id, by queue, or all. They start at once, with as many attempts as a new job. */
export const redriveJobs = async (
  db: Sql,
  which: { readonly id: string | null; readonly queue: string | null },
): Promise<readonly Pick<FailedJob, 'id' | 'queue' | 'payloads'>[]> => {
  if (!(await hasTables(db))) return [];
  const { rows } = await db.query<Row>(REOPEN, [which.id === null ? null : [which.id], which.queue]);
  const places = rows.map(({ queue, tenant }) => ({ queue, tenant: tenantOf(tenant) }));
  if (rows.length > 0) await db.query('SELECT pg_notify($1, $2)', [JOBS_CHANNEL, noticeOf(lanesOf(places), 'cli')]);
  return rows.map(({ id, queue, payloads }) => ({ id, queue, payloads }));
};

/** `reads` is the connection for lists. */
export const failedJobs = (reads: Sql, operations: Sql): FailedJobs => ({
  queues: async () => ((await hasTables(reads)) ? (await reads.query<QueueState>(QUEUE_STATES)).rows : []),
  list: (queue, limit) => listFailedJobs(reads, queue, limit),
  redrive: (which) => redriveJobs(operations, which),
});
