// Lists of payments of one account and mode: by cursor, or by page number in any order, with totals. A list first finds the rows of its
// page, and then reads only their states.

import {
  type Cursor,
  type CursorOrder,
  NEWEST_FIRST,
  type PageOrder,
  type PagePart,
  type PaymentFilter,
  type SortField,
} from '../../application/ports/readModels/payments.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { civilDayBounds, saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { addMillis, earlier, later, type Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { statusCount, sumOf } from '../stats/dayCounts.ts';
import { distinctText, isAfter, orderText, rowsOf, Values } from './filters.ts';
import { paymentOf, selectPayment } from './row.ts';

const NEWEST = 'created_at DESC, id';

/** Sorts text by code point. */
const other = (field: SortField): string => `(other_fields->>'${field}') COLLATE "C"`;

/** Sort expressions of Transaction fields over the columns of `rm_payments.payments`; null if the field is null in every list. */
export const SORT_EXPRESSION: { readonly [F in SortField]: string | null } = {
  id: 'id',
  status: 'status',
  amount: 'amount',
  currency: 'currency',
  paymentMethods: 'methods',
  paidWith: 'paid_with',
  customerName: 'customer_name',
  customerDocument: 'customer_document',
  customerEmail: 'customer_email',
  metadata: 'metadata_start',
  pixQrCode: null,
  pixCopyPaste: 'pix_copy_paste',
  pixExpiresAt: 'pix_expires_at',
  cardRedirectUrl: other('cardRedirectUrl'),
  mbEntity: other('mbEntity'),
  mbReference: other('mbReference'),
  mbExpiresAt: other('mbExpiresAt'),
  boletoBarcode: other('boletoBarcode'),
  boletoLine: other('boletoLine'),
  boletoPdfUrl: other('boletoPdfUrl'),
  boletoExpiresAt: other('boletoExpiresAt'),
  cryptoAddress: other('cryptoAddress'),
  cryptoAmount: `(other_fields->>'cryptoAmount')::numeric`,
  cryptoNetwork: other('cryptoNetwork'),
  cryptoCurrency: other('cryptoCurrency'),
  providerFee: 'provider_fee',
  platformFee: 'platform_fee',
  netAmount: 'amount - provider_fee - platform_fee',
  amountRefunded: 'coalesce(amount_refunded, 0)',
  createdAt: 'created_at',
  paidAt: 'paid_at',
};

// --- One page ---

/** Reads one page by number. `ids` selects the ids of the whole list in order. Rows before the page only cost their ids. */
const pageOf = async (
  db: Sql,
  ids: string,
  { page, limit }: PagePart,
  values: Values,
): Promise<readonly ExistingPayment[]> => {
  const { rows } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('p')} FROM (
       SELECT id, row_number() OVER () AS place
       FROM (${ids} LIMIT ${values.of(limit)} OFFSET ${values.of((page - 1) * limit)}) o
     ) l JOIN rm_payments.payments p ON p.id = l.id ORDER BY l.place`,
    values.list,
  );
  return rows.map(paymentOf);
};

/** Returns at most `limit` payments after the cursor, in this order. */
export const listAfter = async (
  db: Sql,
  tenant: Tenant,
  filter: PaymentFilter,
  after: Cursor | null,
  limit: number,
  order: CursorOrder = NEWEST_FIRST,
): Promise<readonly ExistingPayment[]> => {
  if (filter.found?.length === 0 || filter.customer?.length === 0) return [];
  const values = new Values();
  // Reads at most one page per part, and separately stored columns only for the page's rows.
  const atMost = `LIMIT ${values.of(limit)}`;
  const endOf = (alias: string): string =>
    `${after === null ? '' : `AND ${isAfter(order, after, values, alias)}`} ORDER BY ${orderText(order, alias)} ${atMost}`;
  const rows = rowsOf(tenant, filter, values, endOf, order);
  const distinct = rows.repeats ? `DISTINCT ON (${distinctText(order, 'f')})` : '';
  const page = `SELECT ${distinct} * FROM (${rows.text}) f ORDER BY ${orderText(order, 'f')} ${atMost}`;
  const { rows: found } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('r')} FROM (${page}) r ORDER BY ${orderText(order, 'r')}`,
    values.list,
  );
  return found.map(paymentOf);
};

/** Order by creation, also used for fields that are null in every list. Ties are ordered by id. */
const CREATION_ORDER: { readonly [D in PageOrder['direction']]: string } = {
  desc: NEWEST,
  asc: 'created_at, id DESC',
};

/** Returns a page; `part.page` counts from 1. */
export const listPage = async (
  db: SqlPool,
  tenant: Tenant,
  filter: PaymentFilter,
  { by, direction }: PageOrder,
  part: PagePart,
): Promise<readonly ExistingPayment[]> => {
  const field = SORT_EXPRESSION[by];
  if (by !== 'createdAt' && field !== null) return sortedPage(db, tenant, filter, { field, direction }, part);
  const values = new Values();
  const order = CREATION_ORDER[by === 'createdAt' ? direction : 'desc'];
  return pageOf(db, `SELECT id FROM (${rowsOf(tenant, filter, values).text}) r ORDER BY ${order}`, part, values);
};

// --- A page sorted by any field ---
//
// No index supports this: all rows of the tenant are read, and the cost depends on how many of them must be sorted. If most rows have the
// same value, each row read would replace an older one in the sort.
//
// So the newest rows are sorted first. If the page ends with the k-th payment of the list, `bound` is the field of the k-th of these rows.
// An older row whose field does not sort before `bound` follows k newer rows, because newer rows win ties. It is on no page up to this one
// and can be left out.

interface FieldOrder {
  /** SQL over the columns of `rm_payments.payments`. Nulls sort last in both directions; ties newest first, then by id. */
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** Number of newest rows to sort first. An index finds 10,000 within 20 ms; more rows help with rarer values. */
const newestRowsFor = (last: number): number => Math.max(10_000, 4 * last);
/** Pages that end beyond this row are sorted without a bound. */
const BOUNDED_MAX = 50_000;

interface Bound {
  /** Creation time of the oldest of the newest rows. */
  readonly since: string;
  /** As text; null if no payment up to the end of the page has a value. */
  readonly field: string | null;
}

/** Returns null if there are no older rows, or a bound would not help. */
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
  const rows = rowsOf(tenant, filter, values).text;
  const newest = values.of(newestRows(last));
  const { rows: found } = await db.query<Bound & { isAll: boolean }>(
    `WITH newest AS (SELECT created_at, ${field} AS field FROM (${rows}) r ORDER BY ${NEWEST} LIMIT ${newest})
     SELECT count(*) < ${newest} AS "isAll", min(created_at)::text AS since,
       (SELECT n.field::text FROM newest n ORDER BY n.field ${direction} NULLS LAST LIMIT 1 OFFSET ${values.of(last - 1)}) AS field
     FROM newest`,
    values.list,
  );
  const [bound] = found;
  return bound === undefined || bound.isAll ? null : bound;
};

/** Returns the condition that `bound` implies. All rows created at its instant count as newest. */
const boundedBy = ({ since, field: bound }: Bound, { field, direction }: FieldOrder, values: Values): string => {
  const isNewest = `created_at >= ${values.of(since)}`;
  if (bound === null) return `WHERE ${isNewest} OR ${field} IS NOT NULL`;
  return `WHERE ${isNewest} OR ${field} ${direction === 'asc' ? '<' : '>'} ${values.of(bound)}`;
};

/** Both reads use the same snapshot. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Returns a page that ends with the `last`-th payment. `newestRows` returns how many rows to sort first, at least `last`. */
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
    const rows = `SELECT * FROM (${rowsOf(tenant, filter, values).text}) r ${bound === null ? '' : boundedBy(bound, order, values)}`;
    const ids = `SELECT id FROM (${rows}) b ORDER BY ${order.field} ${order.direction} NULLS LAST, ${NEWEST}`;
    return pageOf(tx, ids, part, values);
  }, SNAPSHOT);

// --- Totals: from counters for whole days, and by counting rows for partial days at the edges ---

type Counted = Pick<PaymentFilter, 'statuses' | 'from' | 'to'>;
interface Span {
  readonly from: Timestamp;
  /** Inclusive. */
  readonly to: Timestamp;
}
interface Parts {
  /** First and last whole civil day of São Paulo, `yyyy-mm-dd`; null if unbounded on that side. */
  readonly days: { readonly first: string | null; readonly last: string | null };
  readonly edges: readonly Span[];
}

/** No payment is created before or after them, so a bound beyond them is like none. */
const [FIRST, LAST] = ['1920-01-01T00:00:00.000Z', '9999-12-01T00:00:00.000Z'] as [Timestamp, Timestamp];

const civilDayOf = (at: Timestamp) => {
  const day = saoPauloDay(at);
  return { day, ...civilDayBounds(day, 'America/Sao_Paulo')! };
};

/** Splits the span into whole days and the remaining edges. */
export const partsOf = ({ from, to }: Pick<Counted, 'from' | 'to'>): Parts => {
  const first = from && civilDayOf(from);
  const last = to && civilDayOf(to);
  const [isWholeFrom, isWholeTo] = [first === null || first.from === from, last === null || last.to === to];
  const days = {
    first: first && (isWholeFrom ? first.day : saoPauloDay(addMillis(first.to, 1))),
    last: last && (isWholeTo ? last.day : saoPauloDay(addMillis(last.from, -1))),
  };
  if (from !== null && to !== null && first?.day === last?.day && !(isWholeFrom && isWholeTo))
    return { days, edges: [{ from, to }] };
  const edges: Span[] = [];
  if (from && first && !isWholeFrom) edges.push({ from, to: first.to });
  if (to && last && !isWholeTo) edges.push({ from: last.from, to });
  return { days, edges };
};

/** Returns the number of payments with these statuses in this span. */
export const countPayments = async (db: Sql, { accountId, mode }: Tenant, filter: Counted): Promise<number> => {
  const { statuses } = filter;
  const from = later(filter.from ?? FIRST, FIRST);
  const to = earlier(filter.to ?? LAST, LAST);
  if (from > to || statuses?.length === 0) return 0;
  const { days, edges } = partsOf({ from: from === FIRST ? null : from, to: to === LAST ? null : to });
  const values: unknown[] = [accountId, mode, days.first, days.last];
  const edge = (span: Span): string =>
    `+ (SELECT count(*) FROM rm_payments.payments WHERE account_id = $1 AND mode = $2
       ${statuses === null ? '' : `AND status = ANY($${values.push(statuses)}::text[])`}
       AND created_at >= $${values.push(span.from)} AND created_at <= $${values.push(span.to)})`;
  const { rows } = await db.query<{ total: number }>(
    `SELECT (coalesce((SELECT ${sumOf(...(statuses?.map(statusCount) ?? (['created'] as const)))} FROM rm_payments.day_counts
         WHERE account_id = $1 AND mode = $2 AND ($3::text IS NULL OR day >= $3) AND ($4::text IS NULL OR day <= $4)), 0)
       ${edges.map(edge).join(' ')})::bigint AS total`,
    values,
  );
  return rows[0]?.total ?? 0;
};
