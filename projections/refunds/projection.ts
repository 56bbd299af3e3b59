// Read model of refunds: how far each one is on its way through the provider. What it means for the payment is in the payments' rows.
import { REFUND } from '../../domain/refund/refund.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

export const refundsProjection = aggregateTable({
  name: 'refunds',
  version: 2,
  aggregate: REFUND,
  table: 'refunds',
  columns: [
    { name: 'payment_id', type: 'text', of: (state) => (state.status === 'absent' ? null : state.order.paymentId) },
    { name: 'status', type: 'text', of: ({ status }) => status },
  ],
  indexes: [{ columns: 'payment_id' }],
});
