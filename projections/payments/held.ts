// Payments of which something waits for an operator, of all accounts (rules M5, O1).
import type { HeldPayments } from '../../application/ports/readModels/payments.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { paymentOf, selectPayment } from './row.ts';

/** How many payments there are of which something is held. */
export const countHeld = async (db: Sql): Promise<number> => {
  const { rows } = await db.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM rm_payments.payments WHERE held_since IS NOT NULL',
  );
  return rows[0]?.total ?? 0;
};

/** Payments of which something is held, longest first. `total` counts those beyond `limit` too. */
export const listHeld = async (
  db: Sql,
  limit: number,
): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }> => {
  const { rows } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE held_since IS NOT NULL ORDER BY held_since, id LIMIT $1`,
    [limit],
  );
  return { held: rows.map(paymentOf), total: await countHeld(db) };
};

export const heldPayments = (db: Sql): HeldPayments => ({ list: (limit) => listHeld(db, limit) });
