// The progress of reconciliation, in PostgreSQL: one row per account and mode.
import type { Reconciliations } from '../../application/ports/reconciliations.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

export const reconciliations = (db: Sql): Reconciliations => ({
  reconciledUntil: async ({ accountId, mode }) => {
    const { rows } = await db.query<{ until_ms: number }>(
      `SELECT (extract(epoch FROM until) * 1000)::bigint AS until_ms FROM operations.reconciliations
       WHERE account_id = $1 AND mode = $2`,
      [accountId, mode],
    );
    return rows[0] ? fromMillis(rows[0].until_ms) : null;
  },
  saveReconciledUntil: async ({ accountId, mode }, until) => {
    await db.query(
      `INSERT INTO operations.reconciliations (account_id, mode, until) VALUES ($1, $2, $3)
       ON CONFLICT (account_id, mode) DO UPDATE SET until = excluded.until`,
      [accountId, mode, until],
    );
  },
  reconciledBetween: async (from, to) => {
    const { rows } = await db.query<{ account_id: AccountId; mode: Mode }>(
      `SELECT r.account_id, r.mode FROM operations.reconciliations r
       LEFT JOIN operations.test_clocks c ON c.account_id = r.account_id AND r.mode = 'test'
       WHERE r.until - coalesce(c.offset_seconds, 0) * interval '1 s' BETWEEN $1 AND $2`,
      [from, to],
    );
    return rows.map(({ account_id: accountId, mode }) => ({ accountId, mode }));
  },
});
