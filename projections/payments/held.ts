// Payments of all accounts with money that awaits an operator (rules M5, O1).
import type { HeldPayments } from '../../application/ports/readModels/payments.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { paymentOf, selectPayment } from './row.ts';

/** Returns the number of payments with held money. */
export const countHeld = async (db: Sql): Promise<number> => {
  const { rows } = await db.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM rm_payments.payments WHERE held_since IS NOT NULL',
  );
  return rows[0]?.total ?? 0;
};

/** Returns payments with held money, the longest held first. `total` also counts those beyond `limit`. With 0 it only counts. */
export const listHeld = async (
  db: Sql,
  limit: number,
): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }> => {
  if (limit === 0) return { held: [], total: await countHeld(db) };
  const { rows } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE held_since IS NOT NULL ORDER BY held_since, id LIMIT $1`,
    [limit],
  );
  return { held: rows.map(paymentOf), total: await countHeld(db) };
};

export const heldPayments = (db: Sql): HeldPayments => ({ list: (limit) => listHeld(db, limit) });
