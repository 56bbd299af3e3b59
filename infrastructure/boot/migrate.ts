// Brings the database to this version's schema, or says that it is of a newer one (rule S4).
import knex, { type Knex } from 'knex';
import type pg from 'pg';
import * as events from '../../migrations/0001_events.ts';
import * as followers from '../../migrations/0002_followers.ts';
import * as operations from '../../migrations/0003_operations.ts';
import * as sandboxBank from '../../migrations/0004_sandbox_bank.ts';
import * as logUse from '../../migrations/0005_log_use.ts';
import * as otherMethods from '../../migrations/0006_other_methods.ts';
import * as velocity from '../../migrations/0007_velocity.ts';
import * as webhookUrls from '../../migrations/0008_webhook_urls.ts';
import * as reconciliations from '../../migrations/0009_reconciliations.ts';
import * as parkedStreams from '../../migrations/0010_parked_streams.ts';
import * as leaderships from '../../migrations/0011_leaderships.ts';
import * as owed from '../../migrations/0012_owed.ts';
import * as failingTargets from '../../migrations/0013_failing_targets.ts';
import * as instrumentExpiry from '../../migrations/0014_instrument_expiry.ts';
import * as jobPayloads from '../../migrations/0015_job_payloads.ts';
import { connectionConfig, PgSession } from '../postgres/session.ts';

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
  '0010_parked_streams': parkedStreams,
  '0011_leaderships': leaderships,
  '0012_owed': owed,
  '0013_failing_targets': failingTargets,
  '0014_instrument_expiry': instrumentExpiry,
  '0015_job_payloads': jobPayloads,
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

/** No program of this version has run on the database yet. Nothing was changed. */
export class OlderSchema extends Error {
  override name = 'OlderSchema';
}

/** Throws NewerSchema. */
const refuseNewer = (done: readonly string[]): void => {
  const unknown = done.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new NewerSchema(`the database has the schema of a newer version (${unknown.join(', ')}): start that version`);
};

const TABLE = 'schema_migrations';

/** Serialised over processes by an advisory lock; a process killed in the middle leaves nothing half done. */
const LOCK = 'SELECT pg_advisory_lock(1903520116, 1)';

export const migrate = async (connectionString: string): Promise<void> => {
  const { watch, ...config } = connectionConfig(connectionString, 'quita migrate');
  // A migration takes what it takes, and waits for that of another process; who holds the lock is idle meanwhile.
  const connection = {
    ...config,
    statement_timeout: 0,
    options: `${config.options} -c idle_session_timeout=0`,
  } as Knex.PgConnectionConfig;
  const db = knex({
    client: 'pg',
    connection,
    pool: {
      min: 0,
      max: 2,
      afterCreate: (client: pg.Client, done: (error: Error | null, client: pg.Client) => void) => {
        watch.add(client);
        done(null, client);
      },
    },
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

/**
 * For tools beside the running program: the database has the schema of this version, and is left as it is. Throws NewerSchema, or
 * OlderSchema, of an empty one, too.
 */
export const assertSchema = async (connectionString: string): Promise<void> => {
  const session = await PgSession.open(connectionConfig(connectionString, 'quita'));
  try {
    const { rows: tables } = await session.query<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
      TABLE,
    ]);
    const { rows } =
      tables[0]?.found == null ? { rows: [] } : await session.query<{ name: string }>(`SELECT name FROM ${TABLE}`);
    const done = rows.map(({ name }) => name);
    refuseNewer(done);
    const missing = Object.keys(MIGRATIONS).filter((name) => !done.includes(name));
    if (missing.length > 0)
      throw new OlderSchema(
        done.length === 0
          ? 'the database has no schema of Quita yet: start the program on it first, which makes it'
          : `the database has the schema of an older version (${missing.join(', ')} missing): use the command line of the version that runs, or start this one, which migrates it`,
      );
  } finally {
    await session.close();
  }
};

const run = async (db: Knex): Promise<void> => {
  if (await db.schema.hasTable(TABLE)) {
    const done = await db<{ name: string }>(TABLE).select('name');
    refuseNewer(done.map(({ name }) => name));
    // A process killed while it migrated leaves knex's own lock behind; we hold ours, so nobody is migrating.
    await db.migrate.forceFreeMigrationsLock({ tableName: TABLE, migrationSource: source });
  }
  await db.migrate.latest({ tableName: TABLE, migrationSource: source });
};
