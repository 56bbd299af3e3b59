// A page of payments sorted by any field. There is no index for it: every row of the tenant is read, and what counts is how few of them
// have to be sorted. Where most payments are alike in the field, each row read would take the place of an older one.
//
// So the newest rows are looked at first. Say the page ends with the k-th payment of the whole list, and `bound` is the field of the k-th
// of the newest rows when these are sorted. Then an older row whose field is not before `bound` comes after k newer ones, and is on
// none of the pages up to this one: among equals the newest come first.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { PagePart, PaymentFilter } from '../../application/ports/readModels/payments.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { pageOf } from './page.ts';
import { NEWEST_FIRST, rowsOf, Values } from './selection.ts';

export interface FieldOrder {
  /** SQL over the columns of `rm_payments.listed`. Nulls come last in either direction, ties newest first, then by id. */
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** An index finds 10,000 within 20 ms; the more of them, the rarer may a value be that fills the pages. */
const newestRowsFor = (last: number): number => Math.max(10_000, 4 * last);
/** Pages that end further back are sorted as they lie. */
const BOUNDED_MAX = 50_000;

interface Bound {
  /** Creation of the oldest of the newest rows. */
  readonly since: string;
  /** As text; null: no payment up to the end of the page has a value. */
  readonly field: string | null;
}

/** null: there are no older rows, or nothing is won. */
const boundOf = async (
  db: Sql,
  tenant: Tenant,
  filter: PaymentFilter,
  { field, direction }: FieldOrder,
  last: number,
  newestRows: (last: number) => number,
): Promise<Bound | null> => {
  if (last > BOUNDED_MAX) return null;
  const values = new Values();
  const rows = rowsOf(tenant, filter, values);
  const newest = values.of(newestRows(last));
  const { rows: found } = await db.query<Bound & { isAll: boolean }>(
    `WITH newest AS (SELECT created_at, ${field} AS field FROM (${rows}) r ORDER BY ${NEWEST_FIRST} LIMIT ${newest})
     SELECT count(*) < ${newest} AS "isAll", min(created_at)::text AS since,
       (SELECT n.field::text FROM newest n ORDER BY n.field ${direction} NULLS LAST LIMIT 1 OFFSET ${values.of(last - 1)}) AS field
     FROM newest`,
    values.list,
  );
  const [bound] = found;
  return bound === undefined || bound.isAll ? null : bound;
};

/** The rows that `bound` leaves. All that were created at its instant count as newest. */
const boundedBy = ({ since, field: bound }: Bound, { field, direction }: FieldOrder, values: Values): string => {
  const isNewest = `created_at >= ${values.of(since)}`;
  if (bound === null) return `WHERE ${isNewest} OR ${field} IS NOT NULL`;
  return `WHERE ${isNewest} OR ${field} ${direction === 'asc' ? '<' : '>'} ${values.of(bound)}`;
};

/** One moment for both reads. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** `newestRows`: how many of the newest are looked at first, for a page that ends with the `last`-th payment; at least `last`. */
export const sortedPage = (
  db: SqlPool,
  tenant: Tenant,
  filter: PaymentFilter,
  order: FieldOrder,
  part: PagePart,
  newestRows = newestRowsFor,
): Promise<readonly ExistingPayment[]> =>
  db.transaction(async (tx) => {
    const bound = await boundOf(tx, tenant, filter, order, part.page * part.limit, newestRows);
    const values = new Values();
    const rows = `SELECT * FROM (${rowsOf(tenant, filter, values)}) r ${bound === null ? '' : boundedBy(bound, order, values)}`;
    const ids = `SELECT id FROM (${rows}) b ORDER BY ${order.field} ${order.direction} NULLS LAST, ${NEWEST_FIRST}`;
    return pageOf(tx, ids, part, values);
  }, SNAPSHOT);
