// Every account there is.
import type { AccountViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

export const accountViews = (db: Sql): AccountViews => ({
  list: async (page) => {
    const { rows } = await db.query<{ id: AccountId; name: string; email: string; opened_ms: number }>(
      `SELECT id, name, email, (extract(epoch FROM opened_at) * 1000)::bigint AS opened_ms
       FROM rm_accounts.accounts
       WHERE $1::text IS NULL OR (opened_at, id) > (SELECT opened_at, id FROM rm_accounts.accounts WHERE id = $1)
       ORDER BY opened_at, id LIMIT $2`,
      [page?.after ?? null, page?.limit ?? null],
    );
    return rows.map(({ id, opened_ms, ...rest }) => ({ accountId: id, ...rest, openedAt: fromMillis(opened_ms) }));
  },
});
