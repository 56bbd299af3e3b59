// Read model of users for operators. Decisions use only the user's stream.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { UserId } from '../../domain/kernel/ids.ts';
import { type KnownUser, USER, type UserEvent } from '../../domain/user/user.ts';
import type { Projection } from '../engine/projection.ts';

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
  version: 3,
  categories: ['user'],
  tables: [{ name: 'users', key: ['id'] }],
  ddl: (
    schema,
  ) => `CREATE TABLE ${schema}.users (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C", email text NOT NULL,
    name text NOT NULL, role text NOT NULL, status text NOT NULL, added_at timestamptz NOT NULL,
    has_password boolean NOT NULL);
    CREATE INDEX ON ${schema}.users (account_id, added_at, id);
    CREATE INDEX ON ${schema}.users (added_at, id);
    CREATE INDEX ON ${schema}.users (added_at, id) WHERE account_id IS NULL;`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const ofUsers = events.filter((logged) => isOf(logged, USER));
      const added = ofUsers.flatMap(({ event }) => (event.type === 'UserAdded' ? [event.data] : []));
      if (added.length > 0)
        await tx.query(
          `INSERT INTO ${schema}.users (id, account_id, email, name, role, status, added_at, has_password)
           SELECT id, account_id, email, name, role, 'active', added_at, has_password
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::boolean[])
             v (id, account_id, email, name, role, added_at, has_password) ON CONFLICT (id) DO NOTHING`,
          [
            added.map(({ userId }) => userId),
            added.map(({ accountId }) => accountId),
            added.map(({ email }) => email),
            added.map(({ name }) => name),
            added.map(({ role }) => role),
            added.map(({ at }) => at),
            added.map(({ passwordId }) => passwordId !== null),
          ],
        );
      // The last role and status of a user in the batch count.
      const roles = new Map<UserId, string>();
      const statuses = new Map<UserId, string>();
      const withPassword = new Set<UserId>();
      for (const { subject, event } of ofUsers) {
        const status = statusOf(event);
        if (status !== null) statuses.set(subject as UserId, status);
        if (event.type === 'UserRoleChanged') roles.set(subject as UserId, event.data.role);
        if (event.type === 'UserPasswordChanged') withPassword.add(subject as UserId);
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
      if (withPassword.size > 0)
        await tx.query(
          `UPDATE ${schema}.users SET has_password = true WHERE id = ANY ($1::text[]) AND NOT has_password`,
          [[...withPassword]],
        );
    },
  }),
};
