// Read model of users for operators. Decisions use only the user's stream.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { UserId } from '../../domain/kernel/ids.ts';
import { type KnownUser, USER, type UserEvent } from '../../domain/user/user.ts';
import type { Projection } from '../engine/projection.ts';

// Passwords and second factors are not shown.
const changesAccess = reading(USER.groups, { reads: ['access'], ignores: ['role', 'credentials'] });

/** Returns the user's status after the event, or null if the event doesn't change it. */
const statusOf = (event: UserEvent): KnownUser['status'] | null => {
  if (!changesAccess(event)) return null;
  switch (event.type) {
    case 'UserAdded':
    case 'UserEnabled':
      return 'active';
    case 'UserDisabled':
      return 'disabled';
    default:
      return event satisfies never;
  }
};

export const usersProjection: Projection<'users'> = {
  name: 'users',
  version: 2,
  categories: ['user'],
  tables: [{ name: 'users', key: ['id'] }],
  ddl: (
    schema,
  ) => `CREATE TABLE ${schema}.users (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C", email text NOT NULL,
    name text NOT NULL, role text NOT NULL, status text NOT NULL, added_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.users (account_id, added_at, id);
    CREATE INDEX ON ${schema}.users (added_at, id);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const ofUsers = events.filter((logged) => isOf(logged, USER));
      const added = ofUsers.flatMap(({ event }) => (event.type === 'UserAdded' ? [event.data] : []));
      if (added.length > 0)
        await tx.query(
          `INSERT INTO ${schema}.users (id, account_id, email, name, role, status, added_at)
           SELECT id, account_id, email, name, role, 'active', added_at
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
             v (id, account_id, email, name, role, added_at) ON CONFLICT (id) DO NOTHING`,
          [
            added.map(({ userId }) => userId),
            added.map(({ accountId }) => accountId),
            added.map(({ email }) => email),
            added.map(({ name }) => name),
            added.map(({ role }) => role),
            added.map(({ at }) => at),
          ],
        );
      // The last role and status of a user in the batch count.
      const roles = new Map<UserId, string>();
      const statuses = new Map<UserId, string>();
      for (const { subject, event } of ofUsers) {
        const status = statusOf(event);
        if (status !== null) statuses.set(subject as UserId, status);
        if (event.type === 'UserRoleChanged') roles.set(subject as UserId, event.data.role);
      }
      for (const [column, values] of [
        ['status', statuses],
        ['role', roles],
      ] as const)
        if (values.size > 0)
          await tx.query(
            `UPDATE ${schema}.users u SET ${column} = v.value FROM unnest($1::text[], $2::text[]) v (id, value)
             WHERE u.id = v.id AND u.${column} <> v.value`,
            [[...values.keys()], [...values.values()]],
          );
    },
  }),
};
