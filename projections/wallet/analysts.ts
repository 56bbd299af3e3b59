// Analysts' views of the ledger: one row per posting, and one per money movement that had fees.
import { type AnalystView, column, instant, money, OWNER } from '../analytics/view.ts';

const ledgerPostings: AnalystView = {
  name: 'ledger_postings',
  comment: 'One row per posting of the double-entry ledger. The postings of an entry (stream, revision) sum to zero.',
  rows: ['rm_wallet.postings'],
  day: 'posted_day',
  columns: [
    column('stream', 'text', 'Stream of the event that moved the money, such as payment-<payment_id>.', 't.stream'),
    column('revision', 'integer', 'Number of the event in its stream, from 0.', 't.revision'),
    column('line', 'integer', 'Number of the posting in its entry, from 0.', 't.line'),
    column('payment_id', 'text', 'The payment; null for payouts.', 't.payment_id'),
    ...OWNER,
    ...instant('posted', 'When the money moved', 't.at'),
    column(
      'ledger_account',
      'text',
      'Account of the ledger, such as merchant_available or provider_fees.',
      't.ledger_account',
    ),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    ...money('amount', 'Credit (positive) or debit (negative)', 't.amount', 't.currency'),
  ],
};

/** Returns SQL for the amount that an entry posts to a ledger account, 0 if none. */
const postedTo = (account: string): string => `coalesce(t.amounts[array_position(t.ledger_accounts, '${account}')], 0)`;
const [TO_PROVIDER, TO_PLATFORM] = [postedTo('provider_fees'), postedTo('platform_fees')];
const touches = (...accounts: readonly string[]): string =>
  `t.ledger_accounts && ARRAY[${accounts.map((account) => `'${account}'`)}]::rm_wallet.ledger_account[]`;

/** Owed money that could not be returned. The platform bears its fees, and a write-off is not a fee of the merchant. */
const IS_OF_PAYER = touches('payer_returns');

const fees: AnalystView = {
  name: 'fees',
  comment: 'One row per money movement with a fee: of payments, refunds, payouts, and of money owed to payers.',
  rows: ['rm_wallet.entries'],
  where: touches('provider_fees', 'platform_fees'),
  day: 'charged_day',
  columns: [
    column('stream', 'text', 'Stream of the event that moved the money, such as payment-<payment_id>.', 't.stream'),
    column('revision', 'integer', 'Number of the event in its stream, from 0.', 't.revision'),
    column('payment_id', 'text', 'The payment; null for payouts.', 't.payment_id'),
    ...OWNER,
    ...instant('charged', 'When the money moved', 't.at'),
    column(
      'kind',
      'text',
      'payment, refund, payout, or payer (money that is owed to a payer, whose fees the platform bears).',
      `CASE WHEN t.payment_id IS NULL THEN 'payout' WHEN ${touches('refunds_in_transit')} THEN 'refund' WHEN ${IS_OF_PAYER} THEN 'payer' ELSE 'payment' END`,
    ),
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    ...money('provider_fee', 'What the provider earned', TO_PROVIDER, 't.currency'),
    ...money(
      'platform_fee',
      'What the platform earned; negative if it bore the provider’s fee',
      TO_PLATFORM,
      't.currency',
    ),
    ...money(
      'merchant_fee',
      'What the merchant paid: the sum of both, or 0 for money owed to a payer',
      `CASE WHEN ${IS_OF_PAYER} THEN 0 ELSE ${TO_PROVIDER} + ${TO_PLATFORM} END`,
      't.currency',
    ),
  ],
};

export const ledgerForAnalysts = [ledgerPostings, fees];
