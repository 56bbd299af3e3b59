// Pix held for review, of all accounts: the operators' queue (decisions M5, O1).
import type { Sql } from '../../application/ports/sql.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment, PaymentState } from '../../domain/payment/payment.ts';
import { paymentOf } from './row.ts';

/** Since when it is held, by the time of the Pix; null: it is not. */
export const heldSince = ({ transaction }: PaymentState): Timestamp | null =>
  transaction.status === 'held' ? transaction.receipt.paidAt : null;

/** Longest held first. `total` counts those beyond `limit` too. */
export const listHeld = async (
  db: Sql,
  limit: number,
): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }> => {
  const { rows } = await db.query<{ state: string }>(
    'SELECT state FROM rm_payments.payments WHERE held_since IS NOT NULL ORDER BY held_since, id LIMIT $1',
    [limit],
  );
  const counted = await db.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM rm_payments.payments WHERE held_since IS NOT NULL',
  );
  const held = rows.map(({ state }) => paymentOf(state));
  return { held, total: counted.rows[0]?.total ?? 0 };
};
