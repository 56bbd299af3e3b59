// Finds what processes owe and nobody is doing, and has it done: a lost job is never lost work (architecture §7). It looks at what
// is written
// down besides the jobs: read models, stored notifications, clocks that are drained, and for messages to be scheduled `operations.owed`.
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { overduePayments } from '../../projections/payments/queries.ts';
import { overdueDeliveries } from '../../projections/webhookDeliveries/queries.ts';
import { drainsOwed, fanOutsOwed } from '../operations/owed.ts';
import { startSchedule } from './schedule.ts';

/** Older than work needs that is merely on its way. With the pause between two looks: found within two minutes. */
const CUTOFF_MS = 60_000;
/** Read at once; all pages are read. */
const PAGE = 1_000;

interface Needs {
  readonly db: Sql;
  readonly jobs: JobQueue;
  readonly notifications: ProviderNotifications;
  /** Real time, milliseconds since 1970 UTC. */
  readonly now: () => number;
  /** Default 1,000. */
  readonly page?: number;
  readonly onFound: (jobs: readonly JobRequest[]) => void;
}

async function* owed({ db, notifications, now, page = PAGE }: Needs): AsyncGenerator<readonly JobRequest[]> {
  const before = fromMillis(now() - CUTOFF_MS);
  yield* notifications.unhandled(CUTOFF_MS, page);
  yield* overduePayments(db, before, page);
  yield* fanOutsOwed(db, CUTOFF_MS, page);
  yield* overdueDeliveries(db, before, page);
  yield* drainsOwed(db);
}

export const pump = async (needs: Needs): Promise<void> => {
  const found = await needs.jobs.ensure(owed(needs));
  if (found.length > 0) needs.onFound(found);
};

type Watched = Needs & { readonly isLeading: () => boolean };

/** One watchdog a deployment: where another process leads, nothing. */
export const lookIfLeading = async ({ isLeading, ...needs }: Watched): Promise<void> => {
  if (isLeading()) await pump(needs);
};

/** Twice a minute. Returns how to stop it. */
export const startWatchdog = ({
  onError,
  ...watched
}: Watched & { readonly onError: (error: Error) => void }): (() => Promise<void>) =>
  startSchedule('*/30 * * * * *', () => lookIfLeading(watched), onError);
