// GET /v1/payments/metrics (contract.md Metrics, rule T3), from the counts of each day.
import { PAYMENT_METHODS, type PaymentMethod } from '../charge/methods.ts';
import { divideHalfUp, percentHalfUp } from '../kernel/rounding.ts';
import { type DayRow, type FunnelStage, sumBy, sumStage } from './dayCounts.ts';

export interface MetricsWindow {
  /** Ascending; the last one is today. */
  readonly days: readonly string[];
  /** null for all currencies. */
  readonly currency: string | null;
}
/** Seconds from creation to payment, of payments paid in the window; null without such payments. */
export interface TimeToPay {
  readonly p50Seconds: number | null;
  readonly p90Seconds: number | null;
}

export interface MetricsView {
  readonly days: number;
  readonly currency: string | null;
  /** Numbers of payments: `created` by creation, `paid` by `paidAt` if ever settled, the others by the day of their present status. */
  readonly funnel: {
    readonly created: number;
    readonly awaitingPayment: number;
    readonly processing: number;
    readonly paid: number;
    readonly failed: number;
    readonly expired: number;
    readonly cancelled: number;
    readonly refunded: number;
    readonly disputed: number;
    /** Whole percent of the payments created in the window that were ever settled. */
    readonly conversionRate: number;
  };
  /** Minor units. */
  readonly volume: readonly {
    readonly currency: string;
    readonly created: number;
    readonly paid: number;
    readonly refunded: number;
    /** Amount lost in disputes, with returns by the banks beyond a lost case, as far as the merchant pays them (V10). */
    readonly lost: number;
    readonly net: number;
    readonly fees: number;
    readonly averageTicket: number;
  }[];
  readonly byMethod: readonly {
    readonly method: PaymentMethod;
    readonly created: number;
    readonly paid: number;
    readonly conversionRate: number;
    readonly volume: readonly { readonly currency: string; readonly volume: number }[];
  }[];
  readonly timeToPay: TimeToPay;
  readonly daily: readonly { readonly date: string; readonly created: number; readonly paid: number }[];
}

/** `rows` are the counts of the window's days, filtered by its currency if set. Currencies are in alphabetical order. */
export const metricsView = (
  { days, currency }: MetricsWindow,
  rows: readonly DayRow[],
  timeToPay: TimeToPay,
): MetricsView => {
  const all = rows.filter(({ method }) => method === null);
  const stage = (name: FunnelStage) => sumStage(all, name);
  const byDay = Map.groupBy(all, ({ day }) => day);
  return {
    days: days.length,
    currency,
    funnel: {
      created: sumBy(all, 'created'),
      awaitingPayment: stage('awaitingPayment'),
      processing: stage('processing'),
      paid: sumBy(all, 'paid'),
      failed: stage('failed'),
      expired: stage('expired'),
      cancelled: stage('cancelled'),
      refunded: stage('refunded'),
      disputed: stage('disputed'),
      conversionRate: conversionRate(all),
    },
    volume: byCurrency(all).map(volumeOf).filter(isAnything),
    byMethod: PAYMENT_METHODS.map((method) =>
      methodOf(
        method,
        rows.filter((row) => row.method === method),
      ),
    ).filter(({ created, paid }) => created > 0 || paid > 0),
    timeToPay,
    daily: days.map((date) => {
      const ofDay = byDay.get(date) ?? [];
      return { date, created: sumBy(ofDay, 'created'), paid: sumBy(ofDay, 'paid') };
    }),
  };
};

const conversionRate = (rows: readonly DayRow[]): number =>
  percentHalfUp(sumBy(rows, 'createdPaid'), sumBy(rows, 'created'));

const byCurrency = (rows: readonly DayRow[]) =>
  [...Map.groupBy(rows, ({ currency }) => currency)].toSorted(([a], [b]) => (a < b ? -1 : 1));

const volumeOf = ([currency, rows]: [string, readonly DayRow[]]): MetricsView['volume'][number] => {
  const paid = sumBy(rows, 'paidAmount');
  const refunded = sumBy(rows, 'refundedAmount');
  const lost = sumBy(rows, 'lostAmount');
  const fees = sumBy(rows, 'fees');
  const averageTicket = divideHalfUp(paid, sumBy(rows, 'paid'));
  return {
    currency,
    created: sumBy(rows, 'createdAmount'),
    paid,
    refunded,
    lost,
    net: paid - refunded - lost - fees,
    fees,
    averageTicket,
  };
};

const isAnything = ({ created, paid, refunded, lost }: MetricsView['volume'][number]): boolean =>
  created > 0 || paid > 0 || refunded > 0 || lost > 0;

const methodOf = (method: PaymentMethod, rows: readonly DayRow[]): MetricsView['byMethod'][number] => ({
  method,
  created: sumBy(rows, 'created'),
  paid: sumBy(rows, 'paid'),
  conversionRate: conversionRate(rows),
  volume: byCurrency(rows)
    .filter(([, ofCurrency]) => sumBy(ofCurrency, 'paid') > 0)
    .map(([currency, ofCurrency]) => ({ currency, volume: sumBy(ofCurrency, 'paidAmount') })),
});
