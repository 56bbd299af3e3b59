// Analysts' view of disputes: one row per case.
import { type AnalystView, column, instant, money, OWNER } from '../analytics/view.ts';

const STATE = `jsonb_to_record(t.state::jsonb) AS s(terms jsonb, appeal jsonb, held bigint, "moneyOutcome" text, ending text,
  "returnedToPayer" bigint, "closedAt" timestamptz)
  CROSS JOIN LATERAL jsonb_to_record(s.terms) AS o(amount bigint, currency text)`;

const disputes: AnalystView = {
  name: 'disputes',
  comment: 'One row per dispute case: MED of a Pix, chargeback or dispute of a card payment.',
  rows: ['rm_disputes.cases'],
  joins: `CROSS JOIN LATERAL ${STATE}`,
  where: 't.created_at IS NOT NULL',
  day: 'opened_day',
  columns: [
    column('case_id', 'text', 'Id without the prefix med_.', 't.id'),
    column('payment_id', 'text', 'The disputed payment.', 't.payment_id'),
    ...OWNER,
    ...instant('opened', 'When Quita opened the case', 't.created_at'),
    column('type', 'text', 'med, chargeback, dispute or fraud.', 't.type'),
    column(
      'status',
      'text',
      'open, appealed, accepted (by the merchant), rejected (the payer won) or closed.',
      't.status',
    ),
    column('currency', 'text', 'Currency, such as BRL.', 'o.currency'),
    ...money('amount', 'Disputed amount, as the provider reported it', 'o.amount', 'o.currency'),
    ...money('held', 'Amount held from the merchant for the case', 's.held', 'o.currency'),
    ...money(
      'returned',
      'Amount that the payer got, according to the bank; null if unknown',
      's."returnedToPayer"',
      'o.currency',
    ),
    ...instant('response_deadline', 'Until when the merchant may answer; null if unknown', 't.response_deadline'),
    ...instant('appealed', 'When the merchant appealed; null if it did not', `(s.appeal->>'at')::timestamptz`),
    ...instant('closed', 'When the case ended; null before', 's."closedAt"'),
    column(
      'bank_ruling',
      'text',
      'agreed (with the payer), disagreed or withdrawn; null without a ruling.',
      's.ending',
    ),
    column(
      'money_outcome',
      'text',
      'refunded_to_merchant, closed_without_refund or lost; null before the end.',
      's."moneyOutcome"',
    ),
  ],
};

export const disputesForAnalysts = [disputes];
