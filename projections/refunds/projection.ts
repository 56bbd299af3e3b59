// Read model of refunds: their progress at the provider. Their effect on the payment is in the payments' rows.
import { REFUND } from '../../domain/refund/refund.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

export const refundsProjection = aggregateTable({
  name: 'refunds',
  version: 5,
  aggregate: REFUND,
  isByAccount: true,
  table: 'refunds',
  columns: [
    { name: 'payment_id', type: 'text', of: (state) => (state.status === 'absent' ? null : state.order.paymentId) },
    { name: 'status', type: 'text', of: ({ status }) => status },
  ],
  indexes: [{ columns: 'payment_id' }],
});
