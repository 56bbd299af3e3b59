// Lists all accounts.
import type { AccountViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { readModel } from '../engine/readModel.ts';
import { accountsProjection } from './projection.ts';

interface ListedRow {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly opened_ms: number;
  readonly suspended_ms: number | null;
}

const accountViews = (db: Sql): AccountViews => ({
  list: async (page) => {
    const { rows } = await db.query<ListedRow>(
      `SELECT id, name, email, (extract(epoch FROM opened_at) * 1000)::bigint AS opened_ms,
         (extract(epoch FROM suspended_at) * 1000)::bigint AS suspended_ms
       FROM rm_accounts.accounts
       WHERE $1::text IS NULL OR (opened_at, id) > (SELECT opened_at, id FROM rm_accounts.accounts WHERE id = $1)
       ORDER BY opened_at, id LIMIT $2`,
      [page?.after ?? null, page?.limit ?? null],
    );
    return rows.map(({ id, name, email, opened_ms, suspended_ms }) => ({
      accountId: id,
      name,
      email,
      openedAt: fromMillis(opened_ms),
      suspendedAt: suspended_ms === null ? null : fromMillis(suspended_ms),
    }));
  },
});

export const accounts = readModel({
  projection: accountsProjection,
  views: (db) => ({ accounts: accountViews(db) }),
});
