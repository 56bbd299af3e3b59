// Lists all users, or those of one account.
import type { ListedUser, UserViews } from '../../application/ports/readModels/views.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import { readModel } from '../engine/readModel.ts';
import { usersProjection } from './projection.ts';

export const userViews = (db: Sql): UserViews => ({
  list: async (accountId, page) => {
    const after = page?.after ?? null;
    const values: unknown[] = [page?.limit ?? null];
    // Conditions that always hold are omitted, because the planner would not use an index with them.
    const conditions = [
      ...(accountId === null ? [] : [`account_id = $${values.push(accountId)}`]),
      ...(after === null
        ? []
        : [`(added_at, id) > (SELECT added_at, id FROM rm_users.users WHERE id = $${values.push(after)})`]),
    ];
    const { rows } = await db.query<ListedUser>(
      `SELECT id AS "userId", account_id AS "accountId", email, name, role, status, ${asTimestamp('added_at')} AS "addedAt"
       FROM rm_users.users ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
       ORDER BY added_at, id LIMIT $1`,
      values,
    );
    return rows;
  },
});

export const users = readModel({ projection: usersProjection, views: (db) => ({ users: userViews(db) }) });
