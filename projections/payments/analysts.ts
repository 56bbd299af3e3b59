// What analysts see of payments: one row each, and the funnel of each day. No names, documents or addresses.
import { PUBLIC_STATUS_OF } from '../../domain/presentation/status.ts';
import { type AnalystView, column, instant, money, OWNER } from '../analytics/view.ts';
import { FUNNEL_STAGES } from './funnel.ts';

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

const STAGE_COMMENTS: { readonly [S in (typeof FUNNEL_STAGES)[number]]: string } = {
  waiting: 'Payments of the day that now wait for the payer.',
  processing: 'Payments of the day that are now being processed.',
  kept: 'Payments of the day that are now paid, and not fully refunded or disputed.',
  failed: 'Payments of the day that failed.',
  cancelled: 'Payments of the day that were cancelled.',
  expired: 'Payments of the day that expired.',
  refunded: 'Payments of the day that are now fully refunded.',
  disputed: 'Payments of the day that are now disputed.',
};
const count = (name: string, comment: string) => column(name, 'bigint', comment, `t.${name}`);

const funnelByDay: AnalystView = {
  name: 'funnel_by_day',
  comment:
    `What became of the payments created on a day. One row per account, mode, day, currency and offered methods. created is the sum
    of the ${FUNNEL_STAGES.length} stages from ${FUNNEL_STAGES[0]} on.`.replaceAll(/\s+/g, ' '),
  rows: ['rm_payments.funnel'],
  day: 'day',
  columns: [
    ...OWNER,
    column('day', 'date', 'Day of creation: civil day of São Paulo.', 't.day'),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    column('methods', 'text', 'Offered methods, separated by commas.', 't.methods'),
    count('created', 'Payments created.'),
    ...money('created_amount', 'Sum of the amounts of payments created', 't.created_amount', 't.currency'),
    count('paid', 'Payments of the day that were paid, even if they were refunded or disputed later.'),
    ...money('paid_amount', 'Sum of the amounts paid', 't.paid_amount', 't.currency'),
    count('paid_in_5_minutes', 'Payments that were paid within 5 minutes of creation.'),
    count('paid_in_an_hour', 'Payments that were paid within an hour of creation.'),
    count('paid_in_a_day', 'Payments that were paid within 24 hours of creation.'),
    ...money('refunded_amount', 'Sum of completed refunds of the payments', 't.refunded_amount', 't.currency'),
    ...money('lost_amount', 'Sum that disputes took from the merchant', 't.lost_amount', 't.currency'),
    ...FUNNEL_STAGES.map((stage) => count(stage, STAGE_COMMENTS[stage])),
  ],
};

const salesByDay: AnalystView = {
  name: 'sales_by_day',
  comment:
    'Payments that were paid on a day, even if they were refunded or disputed later. One row per account, mode, day, currency and method.',
  rows: ['rm_payments.sales'],
  day: 'day',
  columns: [
    ...OWNER,
    column('day', 'date', 'Day of payment: civil day of São Paulo.', 't.day'),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    column('method', 'text', 'Method with which they were paid, such as PIX.', 't.method'),
    count('payments', 'Payments paid.'),
    ...money('amount', 'Sum of their amounts', 't.amount', 't.currency'),
    ...money('provider_fee', 'Sum of the fees of the provider', 't.provider_fee', 't.currency'),
    ...money('platform_fee', 'Sum of the fees of the platform', 't.platform_fee', 't.currency'),
    ...money('net', 'Sum of the amounts less both fees', '(t.amount - t.provider_fee - t.platform_fee)', 't.currency'),
  ],
};

export const paymentsForAnalysts = [payments, funnelByDay, salesByDay];
