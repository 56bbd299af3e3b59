// Analysts' views of payments: one row each, and the funnel of each day. No names, documents or addresses.
import { PUBLIC_STATUS_OF, type PublicStatus, transactionStatusesOf } from '../../domain/presentation/status.ts';
import { type AnalystView, column, instant, money, OWNER } from '../analytics/view.ts';
import { DAY_COUNTS, type DayCount, statusCount, sumOf } from '../stats/dayCounts.ts';

const PUBLIC_STATUS = `CASE t.status ${Object.entries(PUBLIC_STATUS_OF)
  .map(([status, shown]) => `WHEN '${status}' THEN '${shown}'`)
  .join(' ')} END`;
const FEES = '(t.provider_fee + t.platform_fee)';

const payments: AnalystView = {
  name: 'payments',
  comment: `One row per payment. A charge and its transaction share the id: ch_<payment_id>, tx_<payment_id>.`,
  rows: ['rm_payments.payments'],
  where: 't.created_at IS NOT NULL',
  day: 'created_day',
  columns: [
    column('payment_id', 'text', 'Id without prefix.', 't.id'),
    ...OWNER,
    ...instant('created', 'When the merchant created the payment', 't.created_at', 't.created_day'),
    column(
      'status',
      'text',
      'Status of the charge: pending, processing, paid, failed, cancelled, expired, refunded or disputed.',
      PUBLIC_STATUS,
    ),
    column('transaction_status', 'text', 'Status of the transaction, such as WAITING_PAYMENT or APPROVED.', 't.status'),
    column(
      'status_since_at',
      'timestamptz',
      'When the transaction status last changed (UTC instant).',
      't.status_since',
    ),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    ...money('amount', 'Amount asked for', 't.amount', 't.currency'),
    column('methods', 'text', 'Offered methods, separated by commas, such as PIX,BOLETO.', 't.methods'),
    column('paid_with', 'text', 'Method with which it was paid; null if it was not paid.', 't.paid_with'),
    ...instant('paid', 'When the payer paid; null if it was not paid', 't.paid_at', 't.paid_day'),
    column(
      'seconds_to_pay',
      'integer',
      'Seconds from creation to payment; null if it was not paid.',
      'CASE WHEN t.paid_at IS NOT NULL THEN greatest(0, floor(extract(epoch FROM t.paid_at - t.created_at))) END',
    ),
    ...money('provider_fee', 'Fee of the provider; null if it was not paid', 't.provider_fee', 't.currency'),
    ...money('platform_fee', 'Fee of the platform; null if it was not paid', 't.platform_fee', 't.currency'),
    ...money('net', 'Amount less both fees; null if it was not paid', `(t.amount - ${FEES})`, 't.currency'),
    ...money('refunded', 'Amount that went back to the payer', 'coalesce(t.amount_refunded, 0)', 't.currency'),
    column(
      'customer_hash',
      'bigint',
      'Equal for payments of the same customer document, within an account and mode. Personal data. Null if unknown or erased.',
      't.customer_hash',
    ),
  ],
};

/** The name of each public status in analysts' funnel, and its comment. */
const STAGES = {
  pending: ['waiting', 'Payments of the day that now wait for the payer.'],
  processing: ['processing', 'Payments of the day that are now being processed.'],
  paid: ['kept', 'Payments of the day that are now paid, and not fully refunded or disputed.'],
  failed: ['failed', 'Payments of the day that failed.'],
  cancelled: ['cancelled', 'Payments of the day that were cancelled.'],
  expired: ['expired', 'Payments of the day that expired.'],
  refunded: ['refunded', 'Payments of the day that are now fully refunded.'],
  disputed: ['disputed', 'Payments of the day that are now disputed.'],
} as const satisfies { readonly [S in PublicStatus]: readonly [string, string] };

const FUNNEL_STAGES = Object.entries(STAGES).map(([status, [name, comment]]) =>
  column(
    name,
    'bigint',
    comment,
    transactionStatusesOf(status as PublicStatus)
      .map((one) => `t.${statusCount(one)}`)
      .join(' + '),
  ),
);

/** Returns the sums of each day by a further column. `any`: a sum that is 0 in rows that are left out. */
const daysBy = (further: string, any: DayCount): string =>
  `(SELECT account_id, mode, day, currency, ${further}, ${DAY_COUNTS.map((one) => `${sumOf(one)} AS ${one}`)}
    FROM rm_payments.day_counts GROUP BY 1, 2, 3, 4, 5 HAVING ${sumOf(any)} <> 0)`;
const count = (name: string, comment: string, of: DayCount) => column(name, 'bigint', comment, `t.${of}`);
const sum = (name: string, comment: string, of: string) => money(name, comment, of, 't.currency');

const funnelByDay: AnalystView = {
  name: 'funnel_by_day',
  comment:
    `What became of the payments created on a day. One row per account, mode, day, currency and offered methods. created is the sum
    of the ${FUNNEL_STAGES.length} stages from ${STAGES.pending[0]} on.`.replaceAll(/\s+/g, ' '),
  rows: [daysBy('methods', 'created')],
  day: 'day',
  columns: [
    ...OWNER,
    column('day', 'date', 'Day of creation: civil day of São Paulo.', 't.day'),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    column('methods', 'text', 'Offered methods, separated by commas.', 't.methods'),
    count('created', 'Payments created.', 'created'),
    ...sum('created_amount', 'Sum of the amounts of payments created', 't.created_amount'),
    count('paid', 'Payments of the day that were paid, even if they were refunded or disputed later.', 'created_paid'),
    ...sum('paid_amount', 'Sum of the amounts paid', 't.created_paid_amount'),
    count('paid_in_5_minutes', 'Payments that were paid within 5 minutes of creation.', 'paid_in_5_minutes'),
    count('paid_in_an_hour', 'Payments that were paid within an hour of creation.', 'paid_in_an_hour'),
    count('paid_in_a_day', 'Payments that were paid within 24 hours of creation.', 'paid_in_a_day'),
    ...sum('refunded_amount', 'Sum of completed refunds of the payments', 't.created_refunded_amount'),
    ...sum('lost_amount', 'Sum that disputes took from the merchant', 't.created_lost_amount'),
    ...FUNNEL_STAGES,
  ],
};

const salesByDay: AnalystView = {
  name: 'sales_by_day',
  comment:
    'Payments that were paid on a day, even if they were refunded or disputed later. One row per account, mode, day, currency and method.',
  rows: [daysBy("CASE method WHEN '' THEN methods ELSE method END AS method", 'paid')],
  day: 'day',
  columns: [
    ...OWNER,
    column('day', 'date', 'Day of payment: civil day of São Paulo.', 't.day'),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    column('method', 'text', 'Method with which they were paid, such as PIX.', 't.method'),
    count('payments', 'Payments paid.', 'paid'),
    ...sum('amount', 'Sum of their amounts', 't.sold_amount'),
    ...sum('provider_fee', 'Sum of the fees of the provider', 't.provider_fee'),
    ...sum('platform_fee', 'Sum of the fees of the platform', 't.platform_fee'),
    ...sum('net', 'Sum of the amounts less both fees', '(t.sold_amount - t.provider_fee - t.platform_fee)'),
  ],
};

export const paymentsForAnalysts = [payments, funnelByDay, salesByDay];
