// What analysts see of payouts: one row each, for those that merchants requested and for the Pix-outs of cash-out refunds.
import { analystView, column, dayOf, instant, money, OWNER, unitsOf, withSource } from '../analytics/view.ts';

const STATE = `jsonb_to_record(t.state::jsonb) AS s(status text, terms jsonb, reason text, "paidAt" timestamptz, "endToEndId" text)
  CROSS JOIN LATERAL jsonb_to_record(s.terms) AS o(amount bigint, fee bigint, currency text)`;

const requested = analystView({
  name: 'payouts',
  comment: 'One row per payout.',
  from: `rm_payouts.requested t CROSS JOIN LATERAL ${STATE}`,
  where: 't.created_at IS NOT NULL',
  day: 'created_day',
  columns: [
    column('payout_id', 'text', 'Id without the prefix po_.', 't.id'),
    column(
      'payment_id',
      'text',
      'The refunded payment of a cash-out refund; null for a payout that the merchant requested.',
      'NULL',
    ),
    ...OWNER,
    ...instant('created', 'When it was requested', 't.created_at'),
    column('kind', 'text', 'payout: requested by the merchant. refund: the Pix-out of a refund.', `'payout'`),
    column('status', 'text', 'pending, processing, paid, failed or cancelled.', 't.status'),
    column('currency', 'text', 'Currency, such as BRL.', 'o.currency'),
    ...money('amount', 'Amount that arrives', 'o.amount', 'o.currency'),
    ...money('fee', 'Fee that the merchant pays on top', 'o.fee', 'o.currency'),
    ...instant('paid', 'When the bank paid it; null before', 's."paidAt"'),
    column(
      'failure_reason',
      'text',
      'The bank’s reason of the failure, or rejected.',
      `CASE s.status WHEN 'rejected' THEN 'rejected' WHEN 'failed' THEN s.reason END`,
    ),
    column('end_to_end_id', 'text', 'End-to-end id of the Pix.', 's."endToEndId"'),
  ],
});

const payouts = withSource(requested, {
  from: 'rm_payouts.pix_outs t',
  sql: {
    payout_id: 't.id',
    payment_id: 't.payment_id',
    account_id: 't.account_id',
    mode: 't.mode',
    created_at: 't.created_at',
    created_day: dayOf('t.created_at'),
    kind: `'refund'`,
    status: 't.status',
    currency: 't.currency',
    amount_minor: 't.amount',
    amount: unitsOf('t.amount', 't.currency'),
    fee_minor: 't.fee',
    fee: unitsOf('t.fee', 't.currency'),
    paid_at: 't.paid_at',
    paid_day: dayOf('t.paid_at'),
    failure_reason: 't.failure_reason',
    end_to_end_id: 't.end_to_end_id',
  },
});

export const payoutsForAnalysts = [payouts];
