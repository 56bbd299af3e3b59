// Finds work without an end past its time and pumps it: a lost job is never lost work (design §7). It knows only ended and not ended.
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { overduePayments } from '../../projections/payments/queries.ts';
import { overdueDeliveries } from '../../projections/webhookDeliveries/queries.ts';
import { startSchedule } from './schedule.ts';

/** Older than any job needs that is merely queued, retried or claimed by a worker that died. */
const CUTOFF_MS = 5 * 60_000;
const LIMIT = 1_000;

interface Needs {
  readonly db: Sql;
  readonly jobs: JobQueue;
  readonly notifications: ProviderNotifications;
  readonly now: () => number;
  readonly onFound: (jobs: readonly JobRequest[]) => void;
  readonly onError: (error: Error) => void;
}

export const pump = async ({ db, jobs, notifications, now, onFound }: Needs): Promise<void> => {
  const before = fromMillis(now() - CUTOFF_MS);
  const found: JobRequest[] = [
    ...(await notifications.unhandled(CUTOFF_MS, LIMIT)).map((item) => ({ queue: 'settle' as const, item })),
    ...(await overduePayments(db, before, LIMIT)),
    ...(await overdueDeliveries(db, before, LIMIT)).map(({ id, target }) => ({
      queue: 'deliver' as const,
      item: id,
      group: target,
    })),
  ];
  if (found.length === 0) return;
  onFound(found);
  await jobs.enqueue(found);
};

/** Every minute. Returns how to stop it. */
export const startWatchdog = (needs: Needs): (() => Promise<void>) =>
  startSchedule('30 * * * * *', () => pump(needs), needs.onError);
