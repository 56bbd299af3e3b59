// Which charges can bring no money any more: they do not count for the velocity guard (rule E6).
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { paymentOf } from './row.ts';

const ENDED: ReadonlySet<ExistingPayment['charge']['status']> = new Set(['expired', 'cancelled', 'failed']);
const UNPAID: ReadonlySet<ExistingPayment['transaction']['status']> = new Set(['none', 'processing']);

/** Of `ids`: those that expired, were cancelled or failed without having been paid, and those that the read model has never seen. */
export const endedPayments = async (
  db: Sql,
  ids: readonly PaymentId[],
): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }> => {
  const { rows } = await db.query<{ id: PaymentId; state: string }>({
    name: 'ended_payments',
    text: 'SELECT id, state FROM rm_payments.payments WHERE id = ANY($1::text[])',
    values: [ids],
  });
  const known = new Set(rows.map(({ id }) => id));
  // Read here: Postgres refuses any JSON that holds a NUL or half a surrogate pair, such as a payer's name may.
  const ended = rows.filter(({ state }) => {
    const { charge, transaction } = paymentOf(state);
    return ENDED.has(charge.status) && UNPAID.has(transaction.status);
  });
  return { ended: ended.map(({ id }) => id), unknown: ids.filter((id) => !known.has(id)) };
};
