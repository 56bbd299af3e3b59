// Lists of payments of one account and mode: after a cursor, or by page number, in any order.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Cursor, PageOrder, PagePart, PaymentFilter } from '../../application/ports/readModels/payments.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { pageOf, statesOf } from './page.ts';
import { NEWEST_FIRST, rowsOf, Values } from './selection.ts';
import { sortedPage } from './sortedPage.ts';
import { SORT_EXPRESSION } from './sortFields.ts';

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

/** By creation, and by fields that are null in every list: newest first or oldest first, ties by id. */
const CREATION_ORDER: { readonly [D in PageOrder['direction']]: string } = {
  desc: NEWEST_FIRST,
  asc: 'created_at, id DESC',
};

/** `part.page` from 1. */
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
  return pageOf(db, `SELECT id FROM (${rowsOf(tenant, filter, values)}) r ORDER BY ${order}`, part, values);
};
