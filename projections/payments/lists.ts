// Lists of payments of one account and mode: pages by cursor or by number, filters, sorts and totals.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { TransactionStatus } from '../../domain/wire/status.ts';
import { customerHash } from './listed.ts';
import { paymentOf } from './row.ts';
import { SORT_EXPRESSION, type SortField } from './sortFields.ts';

export interface PaymentFilter {
  /** null: any. At least one otherwise. */
  readonly statuses: readonly TransactionStatus[] | null;
  /** Both inclusive, of the creation; null: unbounded. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** As `documentKeyOf` gives it; null: any. */
  readonly documentKey: string | null;
}

/** Values of a statement, numbered as they come. */
class Values {
  readonly list: unknown[] = [];
  of(value: unknown): string {
    return `$${this.list.push(value)}`;
  }
}

/** The hash finds them by index, the document itself decides. */
const ofCustomer = (tenant: Tenant, documentKey: string, values: Values): string =>
  `customer_hash = ${values.of(customerHash(tenant, documentKey))}
   AND upper(regexp_replace(customer_document, '[^0-9A-Za-z]', '', 'g')) = ${values.of(documentKey)}`;

/** One SELECT a status, so that each comes from its index in order and they are merged; the search stops with the page. */
const rowsOf = (tenant: Tenant, { statuses, from, to, documentKey }: PaymentFilter, values: Values): string => {
  const conditions = [
    `account_id = ${values.of(tenant.accountId)} AND mode = ${values.of(tenant.mode)}`,
    ...(from === null ? [] : [`created_at >= ${values.of(from)}`]),
    ...(to === null ? [] : [`created_at <= ${values.of(to)}`]),
    ...(documentKey === null ? [] : [ofCustomer(tenant, documentKey, values)]),
  ].join(' AND ');
  const select = `SELECT * FROM rm_payments.listed WHERE ${conditions}`;
  if (statuses === null) return select;
  return statuses.map((status) => `${select} AND status = ${values.of(status)}`).join(' UNION ALL ');
};

const NEWEST_FIRST = 'created_at DESC, id';

const statesOf = async (db: Sql, page: string, order: string, values: Values): Promise<readonly ExistingPayment[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT p.state FROM (${page}) l JOIN rm_payments.payments p ON p.id = l.id ORDER BY ${order}`,
    values.list,
  );
  return rows.map(({ state }) => paymentOf(state));
};

export interface Cursor {
  readonly createdAt: Timestamp;
  readonly id: PaymentId;
}

/** Newest first, then by id; what comes after the cursor. */
export const listAfter = (
  db: Sql,
  tenant: Tenant,
  filter: PaymentFilter,
  after: Cursor | null,
  limit: number,
): Promise<readonly ExistingPayment[]> => {
  const values = new Values();
  const isEarlier = after !== null && (filter.to === null || after.createdAt < filter.to);
  const rows = rowsOf(tenant, isEarlier ? { ...filter, to: after.createdAt } : filter, values);
  const beyond = () => {
    const [at, id] = [values.of(after?.createdAt), values.of(after?.id)];
    return `WHERE created_at < ${at} OR (created_at = ${at} AND id > ${id})`;
  };
  const page = `SELECT id, created_at FROM (${rows}) r ${after === null ? '' : beyond()} ORDER BY ${NEWEST_FIRST} LIMIT ${values.of(limit)}`;
  return statesOf(db, page, 'l.created_at DESC, l.id', values);
};

export interface PageOrder {
  readonly by: SortField;
  readonly direction: 'asc' | 'desc';
}

/** Nulls last, ties newest first, then by id; by creation ascending is the exact reverse of descending. */
const orderOf = ({ by, direction }: PageOrder): string => {
  if (by === 'createdAt') return direction === 'desc' ? NEWEST_FIRST : 'created_at, id DESC';
  const expression = SORT_EXPRESSION[by];
  return expression === null ? NEWEST_FIRST : `${expression} ${direction.toUpperCase()} NULLS LAST, ${NEWEST_FIRST}`;
};

/** `page` from 1. */
export const listPage = (
  db: Sql,
  tenant: Tenant,
  filter: PaymentFilter,
  order: PageOrder,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<readonly ExistingPayment[]> => {
  const values = new Values();
  const rows = rowsOf(tenant, filter, values);
  const text = `SELECT id, row_number() OVER () AS place FROM (SELECT id FROM (${rows}) r ORDER BY ${orderOf(order)}
    LIMIT ${values.of(limit)} OFFSET ${values.of((page - 1) * limit)}) o`;
  return statesOf(db, text, 'l.place', values);
};
