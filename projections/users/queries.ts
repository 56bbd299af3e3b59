// Every user there is, or those of one account.
import type { ListedUser, UserViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

interface Row extends Omit<ListedUser, 'addedAt'> {
  readonly added_ms: number;
}

export const userViews = (db: Sql): UserViews => ({
  list: async (accountId, page) => {
    const { rows } = await db.query<Row>(
      `SELECT id AS "userId", account_id AS "accountId", email, name, role, status,
         (extract(epoch FROM added_at) * 1000)::bigint AS added_ms
       FROM rm_users.users WHERE ($1::text IS NULL OR account_id = $1)
         AND ($2::text IS NULL OR (added_at, id) > (SELECT added_at, id FROM rm_users.users WHERE id = $2))
       ORDER BY added_at, id LIMIT $3`,
      [accountId, page?.after ?? null, page?.limit ?? null],
    );
    return rows.map(({ added_ms, ...user }) => ({ ...user, addedAt: fromMillis(added_ms) }));
  },
});
