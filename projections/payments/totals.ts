// How many payments a list holds in all: from kept counters for whole days, counted for the parts of days at the edges.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { PaymentFilter } from '../../application/ports/readModels/payments.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { DAY_MS, fromMillis, type Timestamp, toMillis } from '../../domain/kernel/time.ts';

type Counted = Pick<PaymentFilter, 'statuses' | 'from' | 'to'>;
interface Span {
  readonly from: Timestamp;
  /** Inclusive. */
  readonly to: Timestamp;
}
interface Parts {
  /** First and last whole UTC day, `yyyy-mm-dd`; null: unbounded on that side. */
  readonly days: { readonly first: string | null; readonly last: string | null };
  readonly edges: readonly Span[];
}

const startOf = (at: Timestamp): number => Math.floor(toMillis(at) / DAY_MS) * DAY_MS;
const dayOf = (millis: number): string => fromMillis(millis).slice(0, 10);

/** The whole days inside the span, and what is left of it. Creation times are whole milliseconds. */
export const partsOf = ({ from, to }: Pick<Counted, 'from' | 'to'>): Parts => {
  const isWholeFrom = from === null || startOf(from) === toMillis(from);
  const isWholeTo = to === null || startOf(to) + DAY_MS - 1 === toMillis(to);
  const firstMs = from === null ? null : startOf(from) + (isWholeFrom ? 0 : DAY_MS);
  const lastMs = to === null ? null : startOf(to) - (isWholeTo ? 0 : DAY_MS);
  const days = { first: firstMs === null ? null : dayOf(firstMs), last: lastMs === null ? null : dayOf(lastMs) };
  if (from !== null && to !== null && startOf(from) === startOf(to) && !(isWholeFrom && isWholeTo))
    return { days, edges: [{ from, to }] };
  const edges: Span[] = [];
  if (from !== null && !isWholeFrom) edges.push({ from, to: fromMillis(startOf(from) + DAY_MS - 1) });
  if (to !== null && !isWholeTo) edges.push({ from: fromMillis(startOf(to)), to });
  return { days, edges };
};

export const countPayments = async (db: Sql, { accountId, mode }: Tenant, filter: Counted): Promise<number> => {
  const { statuses, from, to } = filter;
  if (from !== null && to !== null && from > to) return 0;
  const { days, edges } = partsOf(filter);
  const values: unknown[] = [accountId, mode, statuses, days.first, days.last];
  const edge = (span: Span): string =>
    `+ (SELECT count(*) FROM rm_payments.listed WHERE account_id = $1 AND mode = $2 AND ($3::text[] IS NULL OR status = ANY($3))
       AND created_at >= $${values.push(span.from)} AND created_at <= $${values.push(span.to)})`;
  const { rows } = await db.query<{ total: number }>(
    `SELECT (coalesce((SELECT sum(payments) FROM rm_payments.status_counts WHERE account_id = $1 AND mode = $2
         AND ($3::text[] IS NULL OR status = ANY($3)) AND ($4::text IS NULL OR created_day >= $4) AND ($5::text IS NULL OR created_day <= $5)), 0)
       ${edges.map(edge).join(' ')})::bigint AS total`,
    values,
  );
  return rows[0]?.total ?? 0;
};
