// The progress of reconciliation, in PostgreSQL: one row per mode.
import type { Reconciliations } from '../../application/ports/reconciliations.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

export const reconciliations = (db: Sql): Reconciliations => ({
  reconciledUntil: async (mode) => {
    const { rows } = await db.query<{ until_ms: number }>(
      'SELECT (extract(epoch FROM until) * 1000)::bigint AS until_ms FROM operations.provider_lists WHERE mode = $1',
      [mode],
    );
    return rows[0] ? fromMillis(rows[0].until_ms) : null;
  },
  saveReconciledUntil: async (mode, until) => {
    await db.query(
      'INSERT INTO operations.provider_lists (mode, until) VALUES ($1, $2) ON CONFLICT (mode) DO UPDATE SET until = excluded.until',
      [mode, until],
    );
  },
});
