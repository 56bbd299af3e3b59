// Logos in PostgreSQL: one row per account and image.
import type { Logo, Logos } from '../../application/ports/logos.ts';
import type { SqlPool } from '../../application/ports/sql.ts';

export const logos = (db: SqlPool): Logos => ({
  put: async (accountId, { sha256, contentType, bytes }) => {
    await db.query(
      'INSERT INTO operations.logos (sha256, account_id, content_type, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [sha256, accountId, contentType, bytes],
    );
  },
  find: async (sha256) => {
    const { rows } = await db.query<Logo>(
      'SELECT content_type AS "contentType", bytes FROM operations.logos WHERE sha256 = $1 LIMIT 1',
      [sha256],
    );
    return rows[0] ?? null;
  },
  keepOnly: async (accountId, sha256s) => {
    await db.query('DELETE FROM operations.logos WHERE account_id = $1 AND sha256 <> ALL ($2::text[])', [
      accountId,
      sha256s,
    ]);
  },
});
