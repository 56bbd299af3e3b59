// The progress of the erasure of old data, in PostgreSQL.
import type { Deferred, RetentionProgress } from '../../application/ports/retention.ts';
import { asTimestamp, type SqlPool } from '../../application/ports/sql.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export const retentionProgress = (db: SqlPool): RetentionProgress => ({
  lookedAt: async (kind, { accountId, mode }) => {
    const { rows } = await db.query<{ id: string; createdAt: Timestamp }>(
      `SELECT id, ${asTimestamp('created_at')} AS "createdAt" FROM operations.retention_progress
       WHERE kind = $1 AND account_id = $2 AND mode = $3`,
      [kind, accountId, mode],
    );
    return rows[0] ?? null;
  },
  setLookedAt: async (kind, { accountId, mode }, { id, createdAt }) =>
    void (await db.query(
      `INSERT INTO operations.retention_progress (kind, account_id, mode, created_at, id) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (kind, account_id, mode) DO UPDATE SET created_at = excluded.created_at, id = excluded.id`,
      [kind, accountId, mode, createdAt, id],
    )),
  defer: async ({ kind, id, accountId, mode }, again) =>
    void (await db.query(
      `INSERT INTO operations.retention_deferred (kind, id, account_id, mode, look_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (kind, id) DO UPDATE SET look_at = excluded.look_at`,
      [kind, id, accountId, mode, again],
    )),
  due: async (now, limit) => {
    const { rows } = await db.query<Deferred>(
      `SELECT kind, id, account_id AS "accountId", mode FROM operations.retention_deferred WHERE look_at <= $1 ORDER BY look_at LIMIT $2`,
      [now, limit],
    );
    return rows;
  },
  forget: async ({ kind, id }) =>
    void (await db.query('DELETE FROM operations.retention_deferred WHERE kind = $1 AND id = $2', [kind, id])),
});
