// The refund guard in Postgres: one row per live refund of the last hour, and their totals. One database function counts and
// inserts under a lock.
import type { RefundGuard } from '../../application/ports/refundGuard.ts';
import type { SqlPool } from '../../application/ports/sql.ts';

export const refundGuard = (db: SqlPool): RefundGuard => ({
  reserve: async ({ refundId, accountId, currency, amount, at, countPerHour, sumPerHour }) => {
    const { rows } = await db.query<{ outcome: 'reserved' | 'count' | 'sum' }>({
      name: 'reserve_refund',
      text: 'SELECT operations.reserve_refund($1, $2, $3, $4, $5, $6, $7) AS outcome',
      values: [refundId, accountId, currency, amount, at, countPerHour, sumPerHour],
    });
    return (rows[0] as (typeof rows)[number]).outcome;
  },
  release: async ({ refundId, accountId }) => {
    await db.query('SELECT operations.release_refund($1, $2)', [refundId, accountId]);
  },
});
