// Lists all users, those of one account, or the operators of the platform.
import type { ListedUser, UserViews } from '../../application/ports/readModels/views.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import { readModel } from '../engine/readModel.ts';
import { usersProjection } from './projection.ts';

export const userViews = (db: Sql): UserViews => {
  /** `of`: a condition on the account, whose value is $2. */
  const listed = async (page: Parameters<UserViews['list']>[1], of: string | null, ...value: readonly string[]) => {
    const after = page?.after ?? null;
    const values: unknown[] = [page?.limit ?? null, ...value];
    // Conditions that always hold are omitted, because the planner would not use an index with them.
    const conditions = [
      ...(of === null ? [] : [of]),
      ...(after === null
        ? []
        : [`(added_at, id) > (SELECT added_at, id FROM rm_users.users WHERE id = $${values.push(after)})`]),
    ];
    const { rows } = await db.query<ListedUser>(
      `SELECT id AS "userId", account_id AS "accountId", email, name, role, status, ${asTimestamp('added_at')} AS "addedAt",
         has_password AS "hasPassword"
       FROM rm_users.users ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
       ORDER BY added_at, id LIMIT $1`,
      values,
    );
    return rows;
  };
  return {
    list: (accountId, page) => (accountId === null ? listed(page, null) : listed(page, 'account_id = $2', accountId)),
    operators: (page) => listed(page, 'account_id IS NULL'),
  };
};

export const users = readModel({ projection: usersProjection, views: (db) => ({ users: userViews(db) }) });
