// Read model of accounts: who they are, for operators. The seed of an account's ids stays in its stream.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountEvent, AccountOpened } from '../../domain/account/account.ts';
import type { Projection } from '../engine/projection.ts';

const openings = (event: AccountEvent): readonly AccountOpened['data'][] => {
  switch (event.type) {
    case 'AccountOpened':
      return [event.data];
    // Settings, secrets, clocks and suspensions are read from the stream.
    case 'AccountSettingsChanged':
    case 'AccountSandboxSettingsChanged':
    case 'AccountOverrideSecretRotated':
    case 'AccountTestClockAdvanced':
    case 'AccountSuspended':
    case 'AccountReopened':
      return [];
    default:
      return event satisfies never;
  }
};

export const accountsProjection: Projection = {
  name: 'accounts',
  version: 1,
  categories: ['account'],
  tables: [{ name: 'accounts', key: ['id'] }],
  ddl: (
    schema,
  ) => `CREATE TABLE ${schema}.accounts (id text COLLATE "C" PRIMARY KEY, name text NOT NULL, email text NOT NULL,
    opened_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.accounts (opened_at, id);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const opened = events.flatMap((logged) => (isOf(logged, 'account') ? openings(logged.event) : []));
      if (opened.length === 0) return;
      await tx.query(
        `INSERT INTO ${schema}.accounts (id, name, email, opened_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) ON CONFLICT (id) DO NOTHING`,
        [
          opened.map(({ accountId }) => accountId),
          opened.map(({ name }) => name),
          opened.map(({ email }) => email),
          opened.map(({ at }) => at),
        ],
      );
    },
  }),
};
