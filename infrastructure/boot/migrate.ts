// Brings the database to this version's schema, or says that it is of a newer one (decisions S4).
import knex, { type Knex } from 'knex';
import * as events from '../../migrations/0001_events.ts';
import * as followers from '../../migrations/0002_followers.ts';
import * as operations from '../../migrations/0003_operations.ts';
import * as sandboxBank from '../../migrations/0004_sandbox_bank.ts';
import * as logUse from '../../migrations/0005_log_use.ts';
import * as otherMethods from '../../migrations/0006_other_methods.ts';
import * as velocity from '../../migrations/0007_velocity.ts';
import * as webhookUrls from '../../migrations/0008_webhook_urls.ts';
import * as reconciliations from '../../migrations/0009_reconciliations.ts';

const MIGRATIONS: { readonly [name: string]: Knex.Migration } = {
  '0001_events': events,
  '0002_followers': followers,
  '0003_operations': operations,
  '0004_sandbox_bank': sandboxBank,
  '0005_log_use': logUse,
  '0006_other_methods': otherMethods,
  '0007_velocity': velocity,
  '0008_webhook_urls': webhookUrls,
  '0009_reconciliations': reconciliations,
};

const source: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(MIGRATIONS),
  getMigrationName: (name) => name,
  getMigration: async (name) => MIGRATIONS[name] as Knex.Migration,
};

/** The database was used by a newer version of the program. Nothing was changed. */
export class NewerSchema extends Error {
  override name = 'NewerSchema';
}

const TABLE = 'schema_migrations';

/** Serialised over processes by an advisory lock; a process killed in the middle leaves nothing half done. */
const LOCK = 'SELECT pg_advisory_lock(1903520116, 1)';

export const migrate = async (connectionString: string): Promise<void> => {
  const db = knex({
    client: 'pg',
    connection: { connectionString, application_name: 'quita migrate' },
    pool: { min: 0, max: 2 },
  });
  try {
    const lock = await db.client.acquireConnection();
    try {
      await db.raw(LOCK).connection(lock);
      await run(db);
    } finally {
      await db.raw('SELECT pg_advisory_unlock_all()').connection(lock);
      await db.client.releaseConnection(lock);
    }
  } finally {
    await db.destroy();
  }
};

const run = async (db: Knex): Promise<void> => {
  if (await db.schema.hasTable(TABLE)) {
    const done = await db<{ name: string }>(TABLE).select('name');
    const unknown = done.filter(({ name }) => !(name in MIGRATIONS)).map(({ name }) => name);
    if (unknown.length > 0)
      throw new NewerSchema(
        `the database has the schema of a newer version (${unknown.join(', ')}): start that version`,
      );
    // A process killed while it migrated leaves knex's own lock behind; we hold ours, so nobody is migrating.
    await db.migrate.forceFreeMigrationsLock({ tableName: TABLE, migrationSource: source });
  }
  await db.migrate.latest({ tableName: TABLE, migrationSource: source });
};
