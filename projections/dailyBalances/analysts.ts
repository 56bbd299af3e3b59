// Analysts' view of balances: one row per ledger account and day on which it moved.
import { type AnalystView, column, money, OWNER } from '../analytics/view.ts';

const ACCOUNT = 'm.account_id, m.mode, m.currency, m.ledger_account';
const CLOSING = 'sum(m.credits - m.debits) OVER w';

/** Filters by the columns of the partition are applied before the sums are made. */
const SUMS = `(SELECT m.*, m.day::date AS on_day, ${CLOSING} AS closing, lead(m.day::date) OVER w - 1 AS until
  FROM rm_daily_balances.daily_movements m WINDOW w AS (PARTITION BY ${ACCOUNT} ORDER BY m.day))`;

const dailyBalances: AnalystView = {
  name: 'daily_balances',
  comment:
    'One row per ledger account, currency and day on which it moved. The balance of a day is the row with day <= it and valid_until >= it or null.',
  rows: [SUMS],
  day: 'day',
  columns: [
    ...OWNER,
    column('currency', 'text', 'Currency, such as BRL.', 't.currency'),
    column(
      'ledger_account',
      'text',
      'Account of the ledger, such as merchant_available or provider_fees.',
      't.ledger_account',
    ),
    column('day', 'date', 'Civil day of São Paulo.', 't.on_day'),
    column('valid_until', 'date', 'Last day with this closing balance; null for the latest row.', 't.until'),
    ...money('opening', 'Balance at the start of the day', '(t.closing - t.credits + t.debits)', 't.currency'),
    ...money('credits', 'Sum of the credits of the day', 't.credits', 't.currency'),
    ...money('debits', 'Sum of the debits of the day, positive', 't.debits', 't.currency'),
    ...money('closing', 'Balance at the end of the day', 't.closing', 't.currency'),
    column('postings', 'bigint', 'Number of postings of the day.', 't.postings'),
  ],
};

export const balancesForAnalysts = [dailyBalances];
