// Queries of refunds of one account and mode. The payment's row holds the request and the outcome, the refund's row its progress at the
// provider.
import type { RefundView, RefundViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { refundView } from '../../domain/presentation/refund.ts';
import type { RefundState } from '../../domain/refund/refund.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { readModel } from '../engine/readModel.ts';
import { paymentOf, selectPayment } from '../payments/row.ts';
import { refundsForAnalysts } from './analysts.ts';
import { refundsProjection } from './projection.ts';

/** The payment's row, and the statuses of its refunds by id; null if no refund was started. */
type Row = ColumnValues & { readonly ways: unknown };
type Ways = { readonly [refundId: string]: RefundState['status'] } | null;

const SELECT = `SELECT ${selectPayment('p')},
  (SELECT jsonb_object_agg(r.id, r.status) FROM rm_refunds.refunds r
   WHERE r.payment_id = p.id AND r.account_id = p.account_id AND r.mode = p.mode) AS ways
  FROM rm_payments.payments p`;

const viewsOf = (row: Row): readonly RefundView[] => {
  const { charge, transaction } = paymentOf(row);
  const ways = row.ways as Ways;
  const refunds = transaction.status === 'settled' ? transaction.refunds : [];
  return refunds.map((refund) => refundView(charge.terms.paymentId, refund, ways?.[refund.refundId]));
};

export const refundViews = (db: Sql): RefundViews => ({
  // Returns the payment's refunds, newest first, or null if there is no such payment.
  list: async (tenant, id) => {
    const { rows } = await db.query<Row>({
      name: 'list_refunds',
      text: `${SELECT} WHERE p.id = $1 AND p.account_id = $2 AND p.mode = $3`,
      values: [id, tenant.accountId, tenant.mode],
    });
    return rows[0] ? viewsOf(rows[0]).toReversed() : null;
  },
  // Returns a refund that was sent to the provider, or null if no such id exists.
  find: async (tenant, id) => {
    const { rows } = await db.query<Row>({
      name: 'find_refund',
      text: `${SELECT} WHERE p.account_id = $2 AND p.mode = $3
        AND p.id = (SELECT payment_id FROM rm_refunds.refunds WHERE id = $1 AND account_id = $2 AND mode = $3)`,
      values: [id, tenant.accountId, tenant.mode],
    });
    const views = rows[0] ? viewsOf(rows[0]) : [];
    return views.find((view) => view.id.endsWith(id)) ?? null;
  },
});

export const refunds = readModel({
  projection: refundsProjection,
  analysts: refundsForAnalysts,
  views: (db) => ({ refunds: refundViews(db) }),
});
