// Read model of accounts for operators: names, emails and suspensions. Decisions use only the account's stream, which alone holds the seed
// of its ids.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { ACCOUNT, type AccountEvent } from '../../domain/account/account.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Projection } from '../engine/projection.ts';

// Settings, secrets and clocks are read from the stream.
const changesStanding = reading(ACCOUNT.groups, {
  reads: ['standing'],
  nothing: ['AccountOpened'],
  ignores: ['settings', 'sandbox'],
});

/** Returns when the event suspended the account, null if it reopened the account, or undefined for other events. */
const suspendedSince = (event: AccountEvent): Timestamp | null | undefined => {
  if (!changesStanding(event)) return undefined;
  switch (event.type) {
    case 'AccountSuspended':
      return event.data.at;
    case 'AccountReopened':
      return null;
    default:
      return event satisfies never;
  }
};

export const accountsProjection: Projection<'accounts'> = {
  name: 'accounts',
  version: 2,
  categories: ['account'],
  tables: [{ name: 'accounts', key: ['id'] }],
  ddl: (
    schema,
  ) => `CREATE TABLE ${schema}.accounts (id text COLLATE "C" PRIMARY KEY, name text NOT NULL, email text NOT NULL,
    opened_at timestamptz NOT NULL, suspended_at timestamptz);
    CREATE INDEX ON ${schema}.accounts (opened_at, id);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const ofAccounts = events.filter((logged) => isOf(logged, ACCOUNT));
      const opened = ofAccounts.flatMap(({ event }) => (event.type === 'AccountOpened' ? [event.data] : []));
      if (opened.length > 0)
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
      // The last suspension or reopening of an account in the batch counts.
      const suspensions = new Map<string, Timestamp | null>();
      for (const { subject, event } of ofAccounts) {
        const since = suspendedSince(event);
        if (since !== undefined) suspensions.set(subject, since);
      }
      if (suspensions.size > 0)
        await tx.query(
          `UPDATE ${schema}.accounts a SET suspended_at = v.since FROM unnest($1::text[], $2::timestamptz[]) v (id, since)
           WHERE a.id = v.id AND a.suspended_at IS DISTINCT FROM v.since`,
          [[...suspensions.keys()], [...suspensions.values()]],
        );
    },
  }),
};
