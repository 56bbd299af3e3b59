// Queries of statistics of one account and mode.

import type { StatsViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { DayRow } from '../../domain/presentation/dayCounts.ts';
import { type BucketCount, percentileOf } from './buckets.ts';

type Row = Omit<DayRow, 'stages'> & DayRow['stages'];

const COLUMNS = `day, currency, nullif(method, '') AS method, created, created_amount AS "createdAmount", created_paid AS "createdPaid", paid,
  paid_amount AS "paidAmount", fees, refunded_amount AS "refundedAmount", lost_amount AS "lostAmount",
  awaiting_payment AS "awaitingPayment", processing, failed, expired, cancelled, refunded, disputed`;

const toDayRow = ({
  awaitingPayment,
  processing,
  failed,
  expired,
  cancelled,
  refunded,
  disputed,
  ...day
}: Row): DayRow => ({
  ...day,
  stages: { awaitingPayment, processing, failed, expired, cancelled, refunded, disputed },
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

export const statsViews = (db: Sql): StatsViews => ({
  // Returns the counts of the window's days, filtered by its currency if set, in no particular order.
  dayRows: async ({ accountId, mode }, { days, currency }) => {
    const { rows } = await db.query<Row>({
      name: 'find_day_rows',
      text: `SELECT ${COLUMNS} FROM rm_payments.day_counts WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4
        AND ($5::text IS NULL OR currency = $5)`,
      values: [accountId, mode, days[0], days.at(-1), currency],
    });
    return rows.map(toDayRow);
  },
  // Returns the times to pay of payments paid in the window.
  timeToPay: async ({ accountId, mode }, { days, currency }) => {
    const { rows } = await db.query<BucketCount>({
      name: 'find_time_to_pay',
      text: `SELECT seconds::bigint AS seconds, sum(payments)::bigint AS payments FROM rm_payments.time_to_pay
        WHERE account_id = $1 AND mode = $2 AND period = ANY($3::text[]) AND ($4::text IS NULL OR currency = $4)
        GROUP BY seconds ORDER BY seconds::bigint`,
      values: [accountId, mode, periodsOf(days), currency],
    });
    return { p50Seconds: percentileOf(rows, 50), p90Seconds: percentileOf(rows, 90) };
  },
});
