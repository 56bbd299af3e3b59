// Read model of refunds: how far each one is on its way through the provider. What it means for the payment is in the payments' rows.
import { type RefundState, refund } from '../../domain/refund/refund.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

export const refundsProjection = aggregateTable<'refund', RefundState>({
  name: 'refunds',
  version: 2,
  category: 'refund',
  decider: refund,
  table: 'refunds',
  columns: [
    { name: 'payment_id', type: 'text', of: (state) => (state.status === 'absent' ? null : state.order.paymentId) },
    { name: 'status', type: 'text', of: ({ status }) => status },
  ],
  indexes: [{ columns: 'payment_id' }],
});
