// Queries of payments of one account and mode, except those for the payer's page, the watchdog and the reconciliation schedule.
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { OverduePayment, PaymentReads, PaymentViews } from '../../application/ports/readModels/payments.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { pendingWork } from '../../domain/payment/pendingWork.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { parkedAmong } from '../engine/parkedStreams.ts';
import { countHeld } from './held.ts';
import { countPayments, listAfter, listPage } from './lists.ts';
import { paymentOf, selectPayment } from './row.ts';
import { versionsOf, watchedPayments } from './versions.ts';

export const paymentViews = (db: SqlPool): PaymentViews => ({
  find: async ({ accountId, mode }, id) => {
    const { rows } = await db.query<ColumnValues>({
      name: 'find_payment',
      text: `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE id = $1 AND account_id = $2 AND mode = $3`,
      values: [id, accountId, mode],
    });
    return rows[0] ? paymentOf(rows[0]) : null;
  },
  // Finds payments for the payer's page without a tenant, because the raw id is a capability.
  findForPayer: async (ids) => {
    const payments = await findPayments(db, ids);
    return new Map(payments.map((payment) => [payment.charge.terms.paymentId, payment]));
  },
  listAfter: (tenant, filter, after, limit, order) => listAfter(db, tenant, filter, after, limit, order),
  listPage: (tenant, filter, order, part) => listPage(db, tenant, filter, order, part),
  watched: (watched) => watchedPayments(db, watched),
  versions: (watched) => versionsOf(db, watched),
  count: (tenant, filter) => countPayments(db, tenant, filter),
});

/** Finds payments of any account and mode. */
const findPayments = async (db: Sql, ids: readonly PaymentId[]): Promise<readonly ExistingPayment[]> => {
  const { rows } = await db.query<ColumnValues>({
    name: 'find_payments',
    text: `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE id = ANY($1::text[])`,
    values: [ids],
  });
  return rows.map(paymentOf);
};

/** Longest wait of a reconciliation, in milliseconds. If exceeded, the job is retried. */
const COMPARED_MS = 10_000;
/** Longest wait in milliseconds for a cancellation to be visible, because a merchant may create another charge at once. */
const ENDED_MS = 1_000;

export const paymentReads = (db: Sql, caughtUp: CaughtUp): PaymentReads => ({
  overdue: (before, page) => overduePayments(db, before, page),
  countHeld: () => countHeld(db),
  byTxid: async (tenant, txids) => {
    if (!(await caughtUp('payments', COMPARED_MS)).isCaughtUp)
      throw new ReadModelsBehind('payments could not be searched by txid');
    return findPaymentsByTxid(db, tenant, txids);
  },
  endedAmong: async (ids) => {
    const { isCaughtUp } = await caughtUp('payments', ENDED_MS);
    const { ended, unknown } = await endedPayments(db, ids);
    return { ended, unknown: isCaughtUp ? unknown : [] };
  },
});

// --- Charges that can't receive money; the velocity guard does not count them (rule E6) ---

const ENDED: ReadonlySet<ExistingPayment['charge']['status']> = new Set(['expired', 'cancelled', 'failed']);
const UNPAID: ReadonlySet<ExistingPayment['transaction']['status']> = new Set(['none', 'processing']);

/**
 * Returns the ids of charges that expired, were cancelled or failed unpaid, and ids that the read model doesn't know. Omits payments whose
 * stream it has parked: they were created, and may have been paid since.
 */
export const endedPayments = async (
  db: Sql,
  asked: readonly PaymentId[],
): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }> => {
  // Read first, so that a stream that is retried now is either still parked or known.
  const parked = await parkedAmong(db, 'payments', asked.map(PAYMENT.stream));
  const ids = asked.filter((id) => !parked.has(PAYMENT.stream(id)));
  const payments = await findPayments(db, ids);
  const known = new Set(payments.map(({ charge }) => charge.terms.paymentId));
  // Filtered here, because PostgreSQL rejects JSON with NUL or half a surrogate pair, which a payer's name may contain.
  const ended = payments.filter(
    ({ charge, transaction }) => ENDED.has(charge.status) && UNPAID.has(transaction.status),
  );
  return {
    ended: ended.map(({ charge }) => charge.terms.paymentId),
    unknown: ids.filter((id) => !known.has(id)),
  };
};

// --- Overdue automatic work of payments, for the watchdog (architecture §7) ---

interface OverdueRow extends ColumnValues {
  readonly awaits_at: string;
  readonly id: string;
  readonly offset_seconds: number;
}

// In account time: an account with an advanced test clock uses its own clock. While the clock is being drained, the drain does the work.
const OVERDUE_PAGE = {
  name: 'overdue_payments',
  text: `SELECT due.awaits_at::text AS awaits_at, due.offset_seconds, ${selectPayment('p')} FROM (
      SELECT awaits_at, id, offset_seconds FROM (
        SELECT p.awaits_at, p.id, 0::bigint AS offset_seconds FROM rm_payments.payments p
        WHERE p.awaits_at < $1 AND NOT (p.mode = 'test' AND EXISTS (SELECT FROM operations.test_clocks c WHERE c.account_id = p.account_id))
        UNION ALL
        SELECT p.awaits_at, p.id, c.offset_seconds FROM operations.test_clocks c
        JOIN rm_payments.payments p ON p.account_id = c.account_id AND p.mode = 'test' AND p.awaits_at < $1 + c.offset_seconds * interval '1 s'
        WHERE NOT c.draining) AS overdue
      WHERE (awaits_at, id) > ($2::timestamptz, $3) ORDER BY awaits_at, id LIMIT $4) AS due
    JOIN rm_payments.payments p ON p.id = due.id ORDER BY due.awaits_at, due.id`,
};

/** Yields pages of all payments whose work was due before `before`, by the clock of their account. */
export const overduePayments = (db: Sql, before: Timestamp, page: number): AsyncGenerator<readonly OverduePayment[]> =>
  pagesOf(
    page,
    (last: OverdueRow | null) =>
      db.query<OverdueRow>({
        ...OVERDUE_PAGE,
        values: [before, last?.awaits_at ?? '-infinity', last?.id ?? '', page],
      }),
    (rows) =>
      rows.flatMap((row) => {
        const payment = paymentOf(row);
        const { accountId, mode, paymentId } = payment.charge.terms;
        return pendingWork(payment)
          .filter(({ at }) => at < addSeconds(before, row.offset_seconds))
          .map((work) => ({ tenant: { accountId, mode }, paymentId, work }));
      }),
  );

// --- Payments by txid, which is the only reference in a provider's list ---

// One index lookup per txid, however many there are. A join would be planned as a scan of the table.
const BY_TXID = `SELECT wanted.txid, found.id FROM unnest($3::text[]) AS wanted(txid)
  CROSS JOIN LATERAL (
    SELECT id FROM rm_payments.payments l WHERE l.txid = wanted.txid AND l.account_id = $1 AND l.mode = $2 OFFSET 0
  ) found`;

/** Returns the tenant's payments by txid. Unknown txids are omitted. */
export const findPaymentsByTxid = async (
  db: Sql,
  { accountId, mode }: Tenant,
  txids: readonly string[],
): Promise<ReadonlyMap<string, PaymentId>> => {
  const { rows } = await db.query<{ txid: string; id: PaymentId }>({
    name: 'find_payments_by_txid',
    text: BY_TXID,
    values: [accountId, mode, new TextArray(txids)],
  });
  return new Map(rows.map(({ txid, id }) => [txid, id]));
};
