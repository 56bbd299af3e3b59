// Every ten minutes: the tenants whose provider is asked for payments that no notification told of.
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { PaymentProviders, Tenant } from '../../application/ports/paymentProvider.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { reconcileItemOf } from '../../application/processes/reconciliation.ts';
import { DAY_MS, fromMillis } from '../../domain/kernel/time.ts';
import { tenantsWithPaymentsSince } from '../../projections/payments/queries.ts';
import { startSchedule } from './schedule.ts';

/** Whoever made no charge for so long is asked about again with the next one, from where it was left. */
const ACTIVE_MS = 40 * DAY_MS;

interface Needs {
  readonly db: Sql;
  readonly jobs: JobQueue;
  readonly providers: PaymentProviders;
  /** Real time, milliseconds since 1970 UTC. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** Each worker process does this: of several jobs for one tenant, the later ones find nothing to do. */
export const enqueueReconciliations = async ({ db, jobs, providers, now }: Omit<Needs, 'onError'>): Promise<void> => {
  const since = fromMillis(now() - ACTIVE_MS).slice(0, 10);
  const tenants = (await tenantsWithPaymentsSince(db, since)).filter(({ mode }) => providers.of(mode) !== null);
  // A provider that does not answer is asked by the retries of one job a worker, and not by another job every ten minutes.
  const isIdle = (await jobs.open('reconcile')) === 0;
  const isUnderWay = async (tenant: Tenant) => (await jobs.open('reconcile', reconcileItemOf(tenant))) > 0;
  const items: string[] = [];
  for (const tenant of tenants) if (isIdle || !(await isUnderWay(tenant))) items.push(reconcileItemOf(tenant));
  if (items.length > 0) await jobs.enqueue(items.map((item) => ({ queue: 'reconcile', item, group: item })));
};

/** Returns how to stop it. */
export const startReconciliationSchedule = (needs: Needs): (() => Promise<void>) =>
  startSchedule('0 */10 * * * *', () => enqueueReconciliations(needs), needs.onError);
