// Every user there is, or those of one account.
import type { ListedUser, UserViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

interface Row extends Omit<ListedUser, 'addedAt'> {
  readonly added_ms: number;
}

export const userViews = (db: Sql): UserViews => ({
  list: async (accountId) => {
    const { rows } = await db.query<Row>(
      `SELECT id AS "userId", account_id AS "accountId", email, name, role, status,
         (extract(epoch FROM added_at) * 1000)::bigint AS added_ms
       FROM rm_users.users WHERE $1::text IS NULL OR account_id = $1 ORDER BY added_at, id`,
      [accountId],
    );
    return rows.map(({ added_ms, ...user }) => ({ ...user, addedAt: fromMillis(added_ms) }));
  },
});
