// Analysts' view of refunds: one row each.
import { type AnalystView, column, failureKind, instant, money, OWNER } from '../analytics/view.ts';

/** The state is parsed once per row. */
const STATE = `jsonb_to_record(t.state::jsonb) AS s("order" jsonb, "requestedAt" timestamptz, "completedAt" timestamptz,
  "failedAt" timestamptz, reason text, "endToEndId" text, late jsonb)
  CROSS JOIN LATERAL jsonb_to_record(s."order") AS o(amount bigint, currency text, method text, strategy text)`;

const refunds: AnalystView = {
  name: 'refunds',
  comment: 'One row per refund that Quita asked a provider for.',
  rows: ['rm_refunds.refunds'],
  joins: `CROSS JOIN LATERAL ${STATE}`,
  where: `t.status <> 'absent'`,
  day: 'requested_day',
  columns: [
    column('refund_id', 'text', 'Id without the prefix rf_.', 't.id'),
    column('payment_id', 'text', 'The refunded payment.', 't.payment_id'),
    ...OWNER,
    ...instant('requested', 'When Quita asked the provider', 's."requestedAt"'),
    column(
      'status',
      'text',
      'requested, submitted, unknown (the provider has not answered), completed or failed.',
      't.status',
    ),
    column('method', 'text', 'Method of the refunded payment.', 'o.method'),
    column(
      'strategy',
      'text',
      'devolution (a Pix is returned), cashout (a new Pix) or reversal (by the acquirer).',
      'o.strategy',
    ),
    column('currency', 'text', 'Currency, such as BRL.', 'o.currency'),
    ...money('amount', 'Amount of the refund', 'o.amount', 'o.currency'),
    ...instant('completed', 'When the payer had the money; null before', 's."completedAt"'),
    ...instant('failed', 'When the provider reported the failure; null if it did not', 's."failedAt"'),
    column(
      'failure_reason',
      'text',
      'refused (by the provider) or not_executed (as an operator found out). Null if it did not fail, or after an erasure.',
      `CASE t.status WHEN 'failed' THEN ${failureKind('s.reason')} END`,
    ),
    column(
      'confirmed_late_at',
      'timestamptz',
      'When the provider confirmed a refund that it had failed (UTC instant).',
      `(s.late->>'at')`,
    ),
    column('end_to_end_id', 'text', 'End-to-end id of the return or Pix-out.', 's."endToEndId"'),
  ],
};

export const refundsForAnalysts = [refunds];
