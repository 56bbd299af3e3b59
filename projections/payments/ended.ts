// Which charges can bring no money any more: they do not count for the velocity guard (decisions E6).
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';

/** Of `ids`: those that expired, were cancelled or failed without having been paid, and those that the read model has never seen. */
export const endedPayments = async (
  db: Sql,
  ids: readonly PaymentId[],
): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }> => {
  const { rows } = await db.query<{ id: PaymentId; charge: string; transaction: string }>({
    name: 'ended_payments',
    text: `SELECT id, state::json #>> '{charge,status}' AS charge, state::json #>> '{transaction,status}' AS transaction
      FROM rm_payments.payments WHERE id = ANY($1::text[])`,
    values: [ids],
  });
  const known = new Set(rows.map(({ id }) => id));
  const ended = rows.filter(
    ({ charge, transaction }) =>
      ['expired', 'cancelled', 'failed'].includes(charge) && ['none', 'processing'].includes(transaction),
  );
  return { ended: ended.map(({ id }) => id), unknown: ids.filter((id) => !known.has(id)) };
};
