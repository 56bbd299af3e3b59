// Reads of payments: of one account and mode, but for the payer's page, the watchdog and the schedule of reconciliation.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { PaymentReads, PaymentViews } from '../../application/ports/readModels/payments.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { findPaymentsByTxid } from './byTxid.ts';
import { endedPayments } from './ended.ts';
import { listHeld } from './held.ts';
import { countPayments, listAfter, listPage } from './lists.ts';
import { paymentOf } from './row.ts';

export { overduePayments } from './overdue.ts';

export const paymentViews = (db: SqlPool): PaymentViews => ({
  find: (tenant, id) => findPayment(db, tenant, id),
  findForPayer: (ids) => findPaymentsForPayer(db, ids),
  listAfter: (tenant, filter, after, limit) => listAfter(db, tenant, filter, after, limit),
  listPage: (tenant, filter, order, part) => listPage(db, tenant, filter, order, part),
  count: (tenant, filter) => countPayments(db, tenant, filter),
  listHeld: (limit) => listHeld(db, limit),
});

const findPayment = async (db: Sql, tenant: Tenant, id: PaymentId): Promise<ExistingPayment | null> => {
  const { rows } = await db.query<{ state: string }>({
    name: 'find_payment',
    text: 'SELECT state FROM rm_payments.payments WHERE id = $1 AND account_id = $2 AND mode = $3',
    values: [id, tenant.accountId, tenant.mode],
  });
  return rows[0] ? paymentOf(rows[0].state) : null;
};

/** Who created payments on `day` (`yyyy-mm-dd`, UTC, account time) or later. */
export const tenantsWithPaymentsSince = async (db: Sql, day: string): Promise<readonly Tenant[]> => {
  const { rows } = await db.query<{ account_id: AccountId; mode: Mode }>(
    'SELECT DISTINCT account_id, mode FROM rm_payments.status_counts WHERE created_day >= $1 ORDER BY account_id, mode',
    [day],
  );
  return rows.map(({ account_id: accountId, mode }) => ({ accountId, mode }));
};

/** For the payer's page: who holds the raw id may look (the id is a capability). */
const findPaymentsForPayer = async (
  db: Sql,
  ids: readonly PaymentId[],
): Promise<ReadonlyMap<PaymentId, ExistingPayment>> => {
  const { rows } = await db.query<{ id: PaymentId; state: string }>({
    name: 'find_payments_for_payer',
    text: 'SELECT id, state FROM rm_payments.payments WHERE id = ANY($1::text[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, state }) => [id, paymentOf(state)]));
};

/** Nobody waits for a comparison; beyond it the job comes again. */
const COMPARED_MS = 10_000;
/** A merchant that just cancelled a charge may make another at once: worst case of a read model. */
const ENDED_MS = 1_000;

export const paymentReads = (db: Sql, caughtUp: CaughtUp): PaymentReads => ({
  byTxid: async (tenant, txids) => {
    if (!(await caughtUp('payments', COMPARED_MS)).isCaughtUp)
      throw new ReadModelsBehind('payments could not be looked for by their txids');
    return findPaymentsByTxid(db, tenant, txids);
  },
  tenantsSince: (day) => tenantsWithPaymentsSince(db, day),
  endedAmong: async (ids) => {
    const { isCaughtUp } = await caughtUp('payments', ENDED_MS);
    const { ended, unknown } = await endedPayments(db, ids);
    return { ended, unknown: isCaughtUp ? unknown : [] };
  },
});
