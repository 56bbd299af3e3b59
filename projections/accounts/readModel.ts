// Lists all accounts.

import type { AccountViews, ListedAccount } from '../../application/ports/readModels/views.ts';
import { asTimestamp } from '../../application/ports/sql.ts';
import { readModel } from '../engine/readModel.ts';
import { accountsProjection } from './projection.ts';

const LIST = `SELECT id AS "accountId", name, email, ${asTimestamp('opened_at')} AS "openedAt", ${asTimestamp('suspended_at')} AS "suspendedAt"
  FROM rm_accounts.accounts
  WHERE $1::text IS NULL OR (opened_at, id) > (SELECT opened_at, id FROM rm_accounts.accounts WHERE id = $1)
  ORDER BY opened_at, id LIMIT $2`;

export const accounts = readModel({
  projection: accountsProjection,
  views: (db) => ({
    accounts: {
      list: async (page) => (await db.query<ListedAccount>(LIST, [page?.after ?? null, page?.limit ?? null])).rows,
    } satisfies AccountViews,
  }),
});
