// Read model of payments: what GET /v1/charges and GET /v1/payments show, what their lists search, count and sort by, and statistics.

import { type PaymentState, payment } from '../../domain/payment/payment.ts';
import { pendingSince } from '../../domain/payment/pendingWork.ts';
import { foldedTable } from '../engine/foldedTable.ts';
import { dayCounts } from '../stats/dayCounts.ts';
import { timeToPay } from '../stats/timeToPay.ts';
import { heldSince } from './held.ts';
import { listedPayments } from './listed.ts';
import { statusMark } from './mark.ts';
import { statusCounts } from './statusCounts.ts';

export const paymentsProjection = foldedTable<'payment', PaymentState>({
  name: 'payments',
  version: 5,
  category: 'payment',
  decider: payment,
  table: 'payments',
  columns: [
    { name: 'awaits_at', type: 'timestamptz', of: pendingSince },
    { name: 'held_since', type: 'timestamptz', of: heldSince },
  ],
  // For the watchdog: what should have happened by itself. For operators: what is held for review.
  indexes: [
    { columns: 'account_id, mode, awaits_at', where: 'awaits_at IS NOT NULL' },
    { columns: 'held_since, id', where: 'held_since IS NOT NULL' },
  ],
  mark: statusMark,
  beside: [listedPayments, statusCounts, dayCounts, timeToPay],
});
