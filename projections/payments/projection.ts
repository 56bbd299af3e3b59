// Read model of payments: the data of GET /v1/charges and GET /v1/payments, of their filters, sorting and totals, and of statistics.

import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { heldSince } from '../../domain/payment/heldMoney.ts';
import { exists, type PaymentEvent } from '../../domain/payment/payment.ts';
import { pendingSince } from '../../domain/payment/pendingWork.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';
import { dayCounts } from '../stats/dayCounts.ts';
import { timeToPay } from '../stats/timeToPay.ts';
import { OTHER_METHODS, offers } from './methods.ts';
import { PAYMENT_COLUMNS, paymentState } from './row.ts';
import { searchKeys } from './searchKeys.ts';

/** Returns the event's own date, in account time. */
const happenedAt = (event: PaymentEvent): Timestamp =>
  event.type === 'ChargeCreated' ? event.data.createdAt : event.data.at;

export const paymentsProjection = aggregateTable({
  name: 'payments',
  version: 25,
  aggregate: PAYMENT,
  isByAccount: true,
  table: 'payments',
  columns: [
    ...PAYMENT_COLUMNS,
    { name: 'awaits_at', type: 'timestamptz', of: pendingSince, isDerived: true },
    { name: 'held_since', type: 'timestamptz', of: heldSince, isDerived: true },
  ],
  fromColumns: paymentState,
  hashes: [{ name: 'customer_hash', of: 'account_id || mode || customer_key' }],
  indexes: [
    // Lists are newest first and read these indexes backwards. New rows append to the end of a tenant's part, where pages fill up in order.
    { columns: 'account_id, mode, created_at, id DESC' },
    { columns: 'account_id, mode, status, created_at, id DESC' },
    // By amount, and ranges of amounts.
    { columns: 'account_id, mode, amount, created_at' },
    // Few payments offer other methods than Pix. A list by one of them reads its own index.
    ...OTHER_METHODS.map((method) => ({ columns: 'account_id, mode, created_at, id DESC', where: offers(method) })),
    { columns: 'customer_hash, created_at', where: 'customer_hash IS NOT NULL' },
    // Costs 12 µs of PostgreSQL's time per charge at 1,000,000 payments. A B-tree would cost 13 to 16 µs, and twice that whenever a row
    // changes. Without the index, finding a payment took 10 to 40 s.
    { columns: 'txid', using: 'hash' },
    // For the watchdog: overdue automatic work. For operators: money held for review.
    { columns: 'account_id, mode, awaits_at', where: 'awaits_at IS NOT NULL' },
    { columns: 'held_since, id', where: 'held_since IS NOT NULL' },
  ],
  status: { of: (state) => (exists(state) ? transactionStatus(state) : null), at: happenedAt },
  derived: [dayCounts, timeToPay, searchKeys],
});
