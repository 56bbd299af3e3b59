// Auditors' tokens in PostgreSQL: only their hashes are stored.
import type { AuditToken, AuditTokens } from '../../application/ports/auditAccess.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const COLUMNS = `id, name, ${millis('created_at')} AS created_ms, ${millis('revoked_at')} AS revoked_ms`;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly created_ms: number;
  readonly revoked_ms: number | null;
}
const tokenOf = ({ id, name, created_ms: created, revoked_ms: revoked }: Row): AuditToken => ({
  id,
  name,
  createdAt: fromMillis(created),
  revokedAt: revoked === null ? null : fromMillis(revoked),
});

export const auditTokens = (db: Sql): AuditTokens => {
  const first = async (text: string, values: readonly unknown[]): Promise<AuditToken | null> => {
    const { rows } = await db.query<Row>(text, values);
    return rows[0] ? tokenOf(rows[0]) : null;
  };
  return {
    add: async (id, name, hash) => {
      const text = `INSERT INTO audit.tokens (id, name, hash) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`;
      return (await first(text, [id, name, hash])) as AuditToken;
    },
    list: async () =>
      (await db.query<Row>(`SELECT ${COLUMNS} FROM audit.tokens ORDER BY created_at, id`)).rows.map(tokenOf),
    find: (hash) => first(`SELECT ${COLUMNS} FROM audit.tokens WHERE hash = $1 AND revoked_at IS NULL`, [hash]),
    revoke: (id) =>
      first(`UPDATE audit.tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING ${COLUMNS}`, [
        id,
      ]),
  };
};
