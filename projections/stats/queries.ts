// Queries of statistics of one account and mode.

import type { StatsViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { DayRow } from '../../domain/presentation/dayCounts.ts';
import type { MetricsWindow, TimeToPay } from '../../domain/presentation/metrics.ts';
import { HistogramSum } from './histogram.ts';

interface Row {
  readonly day: string;
  readonly currency: string;
  readonly method: string;
  readonly created: number;
  readonly created_amount: number;
  readonly created_paid: number;
  readonly paid: number;
  readonly paid_amount: number;
  readonly fees: number;
  readonly refunded_amount: number;
  readonly lost_amount: number;
  readonly awaiting_payment: number;
  readonly processing: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly refunded: number;
  readonly disputed: number;
}

/** Returns the counts of the window's days, filtered by its currency if set, in no particular order. */
export const findDayRows = async (
  db: Sql,
  { accountId, mode }: Tenant,
  { days, currency }: MetricsWindow,
): Promise<readonly DayRow[]> => {
  const { rows } = await db.query<Row>({
    name: 'find_day_rows',
    text: `SELECT * FROM rm_payments.day_counts WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4
      AND ($5::text IS NULL OR currency = $5)`,
    values: [accountId, mode, days[0], days.at(-1), currency],
  });
  return rows.map(toDayRow);
};

const toDayRow = (row: Row): DayRow => ({
  day: row.day,
  currency: row.currency,
  method: row.method === '' ? null : (row.method as PaymentMethod),
  created: row.created,
  createdAmount: row.created_amount,
  createdPaid: row.created_paid,
  paid: row.paid,
  paidAmount: row.paid_amount,
  fees: row.fees,
  refundedAmount: row.refunded_amount,
  lostAmount: row.lost_amount,
  stages: {
    awaitingPayment: row.awaiting_payment,
    processing: row.processing,
    failed: row.failed,
    expired: row.expired,
    cancelled: row.cancelled,
    refunded: row.refunded,
    disputed: row.disputed,
  },
});

/** Splits the window into whole months (`yyyy-mm`) and other days, each day once. */
export const periodsOf = (days: readonly string[]): readonly string[] =>
  [...Map.groupBy(days, (day) => day.slice(0, 7))].flatMap(([month, ofMonth]) =>
    ofMonth.length === daysIn(month) ? [month] : ofMonth,
  );

const daysIn = (month: string): number => {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
};

/** Returns the times to pay of payments paid in the window. */
export const findTimeToPay = async (
  db: Sql,
  { accountId, mode }: Tenant,
  { days, currency }: MetricsWindow,
): Promise<TimeToPay> => {
  const { rows } = await db.query<{ histogram: string }>({
    name: 'find_time_to_pay',
    text: `SELECT histogram FROM rm_payments.time_to_pay WHERE account_id = $1 AND mode = $2 AND period = ANY($3::text[])
      AND ($4::text IS NULL OR currency = $4)`,
    values: [accountId, mode, periodsOf(days), currency],
  });
  const sum = new HistogramSum();
  for (const { histogram } of rows) sum.add(histogram);
  return { p50Seconds: sum.percentile(50), p90Seconds: sum.percentile(90) };
};

export const statsViews = (db: Sql): StatsViews => ({
  dayRows: (tenant, window) => findDayRows(db, tenant, window),
  timeToPay: (tenant, window) => findTimeToPay(db, tenant, window),
});
