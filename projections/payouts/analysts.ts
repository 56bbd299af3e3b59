// Analysts' view of payouts: one row each, for those that merchants requested and for the Pix-outs of cash-out refunds.
import { type AnalystView, column, failureKind, instant, money, OWNER } from '../analytics/view.ts';

/** Requested payouts, whose state is parsed once per row, and Pix-outs, with the same columns. */
const REQUESTED = `(SELECT p.id, NULL::text AS payment_id, p.account_id, p.mode, p.created_at, 'payout' AS kind, p.status, o.currency,
    o.amount, o.fee, s."paidAt" AS paid_at, s."endToEndId" AS end_to_end_id,
    CASE s.status WHEN 'rejected' THEN 'rejected' WHEN 'failed' THEN ${failureKind('s.reason')} END AS failure_reason
  FROM rm_payouts.requested p
    CROSS JOIN LATERAL jsonb_to_record(p.state::jsonb)
      AS s(status text, terms jsonb, reason text, "paidAt" timestamptz, "endToEndId" text)
    CROSS JOIN LATERAL jsonb_to_record(s.terms) AS o(amount bigint, fee bigint, currency text)
  WHERE p.created_at IS NOT NULL)`;
const PIX_OUTS = `(SELECT id, payment_id, account_id, mode, created_at, 'refund' AS kind, status, currency, amount, fee, paid_at,
    end_to_end_id, CASE status WHEN 'failed' THEN ${failureKind('failure_reason')} END AS failure_reason
  FROM rm_payouts.pix_outs)`;

const payouts: AnalystView = {
  name: 'payouts',
  comment: 'One row per payout.',
  rows: [REQUESTED, PIX_OUTS],
  day: 'created_day',
  columns: [
    column('payout_id', 'text', 'Id without the prefix po_.', 't.id'),
    column(
      'payment_id',
      'text',
      'The refunded payment of a cash-out refund; null for a payout that the merchant requested.',
      't.payment_id',
    ),
    ...OWNER,
    ...instant('created', 'When it was requested', 't.created_at'),
    column('kind', 'text', 'payout: requested by the merchant. refund: the Pix-out of a refund.', 't.kind'),
    column('status', 'text', 'pending, processing, paid, failed or cancelled.', 't.status'),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    ...money('amount', 'Amount that arrives', 't.amount', 't.currency'),
    ...money('fee', 'Fee that the merchant pays on top', 't.fee', 't.currency'),
    ...instant('paid', 'When the bank paid it; null before', 't.paid_at'),
    column(
      'failure_reason',
      'text',
      'rejected (by the merchant), refused (by the bank) or not_executed (as an operator found out). Null if it did not fail, or after an erasure.',
      't.failure_reason',
    ),
    column('end_to_end_id', 'text', 'End-to-end id of the Pix.', 't.end_to_end_id'),
  ],
};

export const payoutsForAnalysts = [payouts];
