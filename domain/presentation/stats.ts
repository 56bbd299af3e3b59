// GET /v1/payments/stats (contract.md Stats, rules T1, T2), from the counts of each day.
import { PAYMENT_METHODS } from '../charge/methods.ts';
import { percentHalfUp } from '../kernel/rounding.ts';
import { type DayRow, sumBy } from './dayCounts.ts';

/** Maximum points of `dailyVolume`; a longer window keeps the most recent ones. */
const DAILY_VOLUME_MAX = 366;

/** `days` is the window, ascending, ending today; `rows` are its counts. Currencies are in alphabetical order. */
export const statsView = (days: readonly string[], rows: readonly DayRow[]) => {
  const all = rows.filter(({ method }) => method === null);
  const today = days.at(-1) as string;
  const byDay = Map.groupBy(all, ({ day }) => day);
  const total = sumBy(all, 'created');
  const paid = sumBy(all, 'createdPaid');
  return {
    totalTransactions: total,
    paidTransactions: paid,
    todayTransactions: sumBy(byDay.get(today) ?? [], 'created'),
    /** Whole percent. */
    successRate: percentHalfUp(paid, total),
    volumeByCurrency: [...Map.groupBy(all, ({ currency }) => currency)]
      .map(([currency, ofCurrency]) => ({ currency, ...volumeOf(ofCurrency) }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
    todayVolumeByCurrency: currenciesOf(byDay.get(today) ?? []),
    dailyVolume: days
      .slice(-DAILY_VOLUME_MAX)
      .map((date) => ({ date, currencies: currenciesOf(byDay.get(date) ?? []) })),
    methodBreakdown: PAYMENT_METHODS.map((method) => ({
      method,
      ...volumeOf(rows.filter((row) => row.method === method)),
    })).filter(({ count }) => count > 0),
  };
};

const volumeOf = (rows: readonly DayRow[]) => ({
  volume: sumBy(rows, 'paidAmount'),
  count: sumBy(rows, 'paid'),
});

/** One row per currency. */
const currenciesOf = (rows: readonly DayRow[]): { readonly [currency: string]: number } =>
  Object.fromEntries(
    rows
      .filter(({ paid }) => paid > 0)
      .toSorted((a, b) => (a.currency < b.currency ? -1 : 1))
      .map(({ currency, paidAmount }) => [currency, paidAmount]),
  );
