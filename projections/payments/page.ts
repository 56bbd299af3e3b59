// The payments of a page: their ids in order first, then their states.
import type { PagePart } from '../../application/ports/readModels/payments.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { paymentOf } from './row.ts';
import type { Values } from './selection.ts';

/** `page` selects ids and whatever `order` names, as `l`. */
export const statesOf = async (
  db: Sql,
  page: string,
  order: string,
  values: Values,
): Promise<readonly ExistingPayment[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT p.state FROM (${page}) l JOIN rm_payments.payments p ON p.id = l.id ORDER BY ${order}`,
    values.list,
  );
  return rows.map(({ state }) => paymentOf(state));
};

/** `ids` selects the ids of the whole list in order. */
export const pageOf = (db: Sql, ids: string, { page, limit }: PagePart, values: Values) =>
  statesOf(
    db,
    `SELECT id, row_number() OVER () AS place
     FROM (${ids} LIMIT ${values.of(limit)} OFFSET ${values.of((page - 1) * limit)}) o`,
    'l.place',
    values,
  );
