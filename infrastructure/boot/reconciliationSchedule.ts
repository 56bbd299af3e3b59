// Every minute: the tenants whose provider was not asked for ten minutes for payments that no notification told of. How far that got is
// written down (`operations.reconciliations`), so that a comparison that was lost or failed is due with the next look.

import { reconcileItemOf } from '../../application/payments/reconciliation.ts';
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { PaymentProviders, Tenant } from '../../application/ports/paymentProvider.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { DAY_MS, fromMillis, HOUR_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import { tenantsWithPaymentsSince } from '../../projections/payments/queries.ts';
import { reconciledBetween } from '../operations/reconciliations.ts';
import { startSchedule } from './schedule.ts';

/** Whoever made no charge for so long is asked about again with the next one, from where it was left. */
const ACTIVE_MS = 40 * DAY_MS;
/** Between two comparisons of a tenant, by its own clock. */
const PAUSE_MS = 10 * MINUTE_MS;
/** A comparison that lies further ahead is from a host whose clock was wrong. */
const AHEAD_MS = HOUR_MS;

interface Needs {
  readonly db: Sql;
  readonly jobs: JobQueue;
  readonly providers: PaymentProviders;
  /** Real time, milliseconds since 1970 UTC. */
  readonly now: () => number;
}

async function* dueAmong({ db, providers, now }: Needs): AsyncGenerator<readonly JobRequest[]> {
  const since = fromMillis(now() - ACTIVE_MS).slice(0, 10);
  const tenants = (await tenantsWithPaymentsSince(db, since)).filter(({ mode }) => providers.of(mode) !== null);
  if (tenants.length === 0) return;
  const fresh = new Set(
    (await reconciledBetween(db, fromMillis(now() - PAUSE_MS), fromMillis(now() + AHEAD_MS))).map(reconcileItemOf),
  );
  yield tenants
    .map((tenant: Tenant): JobRequest => ({ queue: 'reconcile', tenant, item: reconcileItemOf(tenant) }))
    .filter(({ item }) => !fresh.has(item));
}

/** A provider that does not answer is asked by the retries of one job, and not by another job every minute. */
export const enqueueReconciliations = async (needs: Needs): Promise<void> =>
  void (await needs.jobs.ensure(dueAmong(needs)));

/** While this process `isLeading`: one schedule a deployment. Returns how to stop it. */
export const startReconciliationSchedule = ({
  isLeading,
  onError,
  ...needs
}: Needs & { readonly isLeading: () => boolean; readonly onError: (error: Error) => void }): (() => Promise<void>) =>
  startSchedule('45 * * * * *', async () => void (isLeading() && (await enqueueReconciliations(needs))), onError);
