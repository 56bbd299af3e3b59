// Read model of payments: what GET /v1/charges and GET /v1/payments show.
import { exists, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { transactionStatus } from '../../domain/wire/status.ts';
import { foldedTable } from '../engine/foldedTable.ts';
import { awaited } from './awaited.ts';

export const paymentsProjection = foldedTable<'payment', PaymentState>({
  name: 'payments',
  version: 1,
  category: 'payment',
  decider: payment,
  table: 'payments',
  columns: [
    { name: 'status', type: 'text', of: (state) => (exists(state) ? transactionStatus(state) : null) },
    { name: 'amount', type: 'bigint', of: (state) => (exists(state) ? state.charge.terms.amount : null) },
    { name: 'currency', type: 'text', of: (state) => (exists(state) ? state.charge.terms.currency : null) },
    { name: 'created_at', type: 'timestamptz', of: (state) => (exists(state) ? state.charge.terms.createdAt : null) },
    {
      name: 'paid_at',
      type: 'timestamptz',
      of: ({ transaction }) => (transaction.status === 'settled' ? transaction.settlement.receipt.paidAt : null),
    },
    { name: 'awaits_at', type: 'timestamptz', of: (state) => awaited(state)?.at ?? null },
  ],
  // For the watchdog: what should have happened by itself.
  indexes: [{ columns: 'awaits_at', where: 'awaits_at IS NOT NULL' }],
});
