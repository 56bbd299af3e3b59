// Queries of statistics of one account and mode.

import type { StatsViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { DayRow } from '../../domain/presentation/dayCounts.ts';
import { type BucketCount, percentileOf } from './buckets.ts';
import { METHODS_OF_ROW, STAGE_COUNT, sumOf } from './dayCounts.ts';

type Row = Omit<DayRow, 'stages'> & DayRow['stages'];

const SUMS = {
  created: ['created'],
  createdAmount: ['created_amount'],
  createdPaid: ['created_paid'],
  paid: ['paid'],
  paidAmount: ['paid_amount'],
  fees: ['provider_fee', 'platform_fee', 'refund_fee'],
  refundedAmount: ['refunded_amount'],
  lostAmount: ['lost_amount'],
} as const;
const COLUMNS = [
  ...Object.entries(SUMS).map(([name, counts]) => `${sumOf(...counts)} AS "${name}"`),
  ...Object.entries(STAGE_COUNT).map(([stage, count]) => `${sumOf(count)} AS "${stage}"`),
];

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
      text: `SELECT day, currency, m.method, ${COLUMNS} FROM rm_payments.day_counts d
        CROSS JOIN LATERAL unnest(array_append(${METHODS_OF_ROW}, NULL)) m(method)
        WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4 AND ($5::text IS NULL OR currency = $5)
        GROUP BY day, currency, m.method`,
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
