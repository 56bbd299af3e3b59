// Auditors' tokens in PostgreSQL: only their hashes are stored.
import type { AuditToken, AuditTokens } from '../../application/ports/auditAccess.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';

const COLUMNS = `id, name, ${asTimestamp('created_at')} AS "createdAt", ${asTimestamp('revoked_at')} AS "revokedAt"`;

export const auditTokens = (db: Sql): AuditTokens => {
  const first = async (text: string, values: readonly unknown[]): Promise<AuditToken | null> => {
    const { rows } = await db.query<AuditToken>(text, values);
    return rows[0] ?? null;
  };
  return {
    add: (id, name, hash) =>
      first(
        `INSERT INTO audit.tokens (id, name, hash) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING ${COLUMNS}`,
        [id, name, hash],
      ),
    list: async () => (await db.query<AuditToken>(`SELECT ${COLUMNS} FROM audit.tokens ORDER BY created_at, id`)).rows,
    find: (hash) => first(`SELECT ${COLUMNS} FROM audit.tokens WHERE hash = $1 AND revoked_at IS NULL`, [hash]),
    revoke: (id) =>
      first(`UPDATE audit.tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING ${COLUMNS}`, [
        id,
      ]),
  };
};
