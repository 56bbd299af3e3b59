// Migrates the database to this version's schema, or reports that its schema is newer or too old (rule S4).
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import { isLockUnavailable } from '../../application/ports/sql.ts';
import { connectionConfig, PgSession } from './session.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

/** Names of the migrations in numerical order. */
export const MIGRATIONS: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
  .sort();
if (new Set(MIGRATIONS.map((name) => name.slice(0, 4))).size < MIGRATIONS.length)
  throw new Error(`two migrations have the same number: ${MIGRATIONS.join(', ')}`);

export const loadMigration = async (name: string): Promise<Knex.Migration> =>
  import(new URL(`${name}.ts`, FOLDER).href);

/**
 * Migrations of builds before the first release whose tables or events this version does not read. Until that release, a change to an
 * existing migration or to an event's stored form must rename the last migration and add its old name here.
 */
export const BEFORE_RELEASE: readonly string[] = [
  '0001_events',
  '0001_event_store',
  '0004_sandbox_bank',
  '0004_sandbox',
  '0009_access_leases',
];

const sourceOf = (names: readonly string[]): Knex.MigrationSource<string> => ({
  getMigrations: async () => [...names],
  getMigrationName: (name) => name,
  getMigration: loadMigration,
});

/**
 * Whether older versions of the program can't run on a database after this migration, because it removes or changes objects that they use.
 * Its name then ends in `_contract`. All other migrations only add.
 */
export const isContracting = (name: string): boolean => name.endsWith('_contract');

/** The database has the schema of a newer version that this one can't use, or of a build before the first release. Nothing was changed. */
export class ForeignSchema extends Error {
  override name = 'ForeignSchema';
}

/** This version has not migrated the database yet. Nothing was changed. */
export class OlderSchema extends Error {
  override name = 'OlderSchema';
}

/**
 * Throws ForeignSchema if this version can't run on the database: a newer version contracted its schema, or another build made it. Newer
 * migrations that only add are accepted, because versions run side by side during an upgrade.
 */
const refuseForeign = (done: readonly string[]): void => {
  if (done.some((name) => BEFORE_RELEASE.includes(name)))
    throw new ForeignSchema(
      'the database was created by a build before the first release, whose events this version does not read. Embedded database: ' +
        'remove the data directory, or set DATA_DIR to another folder. Otherwise: set DATABASE_URL to an empty database',
    );
  const newest = MIGRATIONS.at(-1) ?? '';
  const isRefused = (name: string): boolean => isContracting(name) || name < newest || missingOf(done).length > 0;
  const refused = done.filter((name) => !MIGRATIONS.includes(name) && isRefused(name));
  if (refused.length > 0)
    throw new ForeignSchema(
      `the database has the schema of a newer version (${refused.join(', ')}): start that version`,
    );
};

/** Another session holds a table that a migration changes, such as that of a dump. */
export class MigrationHeldUp extends Error {
  override name = 'MigrationHeldUp';
}

const TABLE = 'schema_migrations';

/** An advisory lock serializes migrations across processes. A process killed during a migration leaves nothing half done. */
const TRY_LOCK = 'SELECT pg_try_advisory_lock(1903520116, 1) AS locked';
/** Between attempts to lock, because a start that is asked to stop can't take back a statement that waits. */
const TRY_LOCK_MS = 100;

/** Returns the names of the migrations that ran; empty for an empty database. */
const migrationsDone = async (connectionString: string): Promise<readonly string[]> => {
  const session = await PgSession.open(connectionConfig(connectionString, 'quita'));
  try {
    const { rows: tables } = await session.query<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
      TABLE,
    ]);
    if (tables[0]?.found == null) return [];
    return (await session.query<{ name: string }>(`SELECT name FROM ${TABLE}`)).rows.map(({ name }) => name);
  } finally {
    await session.close();
  }
};

const missingOf = (done: readonly string[], names = MIGRATIONS): readonly string[] =>
  names.filter((name) => !done.includes(name));

/**
 * All statements of the running version queue behind a migration that waits for a table. So the migration stops waiting soon, and tries
 * again. PostgreSQL cancels an autovacuum only for those who wait for a second (deadlock_timeout).
 */
export const LOCK_MS = 1_500;
const LET_PASS_MS = 1_000;
const HELD_UP_MS_MAX = 60_000;

interface Patience {
  readonly heldUpMsMax?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs `change`, whose `lock_timeout` must be LOCK_MS, until it gets all its locks. Throws MigrationHeldUp if another session holds a table
 * for longer than `heldUpMsMax`. Throws an AbortError if `signal` aborts meanwhile.
 */
export const lettingPass = async (
  change: () => Promise<unknown>,
  { heldUpMsMax = HELD_UP_MS_MAX, signal }: Patience = {},
): Promise<void> => {
  const deadline = performance.now() + heldUpMsMax;
  for (;;) {
    try {
      await change();
      return;
    } catch (error) {
      if (!isLockUnavailable(error)) throw error;
    }
    if (performance.now() > deadline) throw new MigrationHeldUp(HELD_UP);
    await pause(LET_PASS_MS, undefined, { signal });
  }
};

/**
 * Runs the migrations that are missing. `names`: those of an earlier release, to restore its data; all by default. Throws ForeignSchema.
 * Throws MigrationHeldUp if another session holds a table for longer than `heldUpMsMax`; the migrations before that one are done. Throws an
 * AbortError if `signal` aborts while it waits for another process.
 */
export const migrate = async (connectionString: string, names = MIGRATIONS, patience: Patience = {}): Promise<void> => {
  const { signal } = patience;
  const done = await migrationsDone(connectionString);
  refuseForeign(done);
  // Most starts have nothing to migrate; not loading knex saves 64 ms of CPU.
  if (missingOf(done, names).length === 0) return;
  const { watch, ...config } = connectionConfig(connectionString, 'quita migrate');
  // A migration may take long; the session that holds Quita's lock is idle meanwhile.
  const connection = {
    ...config,
    statement_timeout: 0,
    options: `${config.options} -c idle_session_timeout=0 -c lock_timeout=${LOCK_MS}`,
  } as Knex.PgConnectionConfig;
  const { default: knex } = await import('knex');
  const db = knex({
    client: 'pg',
    connection,
    log: { warn: () => undefined }, // it repeats errors on the console
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
      const tryLock = async (): Promise<boolean> => (await db.raw(TRY_LOCK).connection(lock)).rows[0].locked;
      while (!(await tryLock())) await pause(TRY_LOCK_MS, undefined, { signal });
      await lettingPass(() => run(db, names), patience);
    } finally {
      // A lost connection holds no lock, but must be released, because the end of the pool would wait for it for ever.
      await db
        .raw('SELECT pg_advisory_unlock_all()')
        .connection(lock)
        .catch(() => undefined);
      await db.client.releaseConnection(lock);
    }
  } finally {
    await db.destroy();
  }
};

/**
 * Checks, for tools beside the running program, that the database has this version's schema, and changes nothing. Throws
 * ForeignSchema, or OlderSchema (also for an empty database).
 */
export const assertSchema = async (connectionString: string): Promise<void> => {
  const done = await migrationsDone(connectionString);
  refuseForeign(done);
  const missing = missingOf(done);
  if (missing.length > 0)
    throw new OlderSchema(
      done.length === 0
        ? 'the database has no Quita schema yet: start the program first, which creates it'
        : `the database has the schema of an older version (${missing.join(', ')} missing): use the command line of the running version, or start this version, which migrates it`,
    );
};

const HELD_UP =
  'the database can’t be migrated while another session, such as a dump or a long query, holds one of its tables: start again when that has ended';

const run = async (db: Knex, names: readonly string[]): Promise<void> => {
  const source = sourceOf(names);
  if (await db.schema.hasTable(TABLE)) {
    const done = await db<{ name: string }>(TABLE).select('name');
    refuseForeign(done.map(({ name }) => name));
    // A process killed during a migration leaves knex's own lock behind. This process holds Quita's lock, so no migration is running.
    await db.migrate.forceFreeMigrationsLock({ tableName: TABLE, migrationSource: source });
  }
  await db.migrate.latest({ tableName: TABLE, migrationSource: source });
};
