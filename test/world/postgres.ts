// One PostgreSQL server for all tests of a process. It starts on first use and ends with the process. Each suite gets a new database,
// copied from a migrated template. TEST_DATABASE_URL selects another server, with a role that can create databases.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { openToSuperuser, postmasterPidIn } from './embeddedPostgres.ts';

export interface TestDatabase {
  readonly connectionString: string;
  /** Drops the database and ends its connections. */
  drop(): Promise<void>;
}

/** Prepares an empty database. */
type Prepare = (connectionString: string) => Promise<void>;
interface Server {
  readonly connectionString: string;
  /** Creates and drops databases. */
  readonly admin: pg.Client;
  /** The owner of the databases: the role of the connection string. */
  readonly owner: string;
  /** Called synchronously when the process exits. */
  abandon(templates: readonly string[]): void;
}

/** Settings without durability or replication, because test data is discarded. Benches run outside mocha and use production settings. */
const SETTINGS: Readonly<Record<string, string>> =
  typeof describe === 'undefined'
    ? {}
    : {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
        wal_compression: 'off',
        wal_level: 'minimal',
        max_wal_senders: '0',
        max_wal_size: '256MB',
        shared_buffers: '64MB',
        max_connections: '200',
        // Autovacuum divides the interval among all databases of the server, and there are many.
        autovacuum_naptime: '15s',
      };

let server: Promise<Server> | null = null;
/** Names of template databases by the function that prepared them. */
const templates = new Map<Prepare, Promise<string>>();
/** Names of all template databases. */
const names: string[] = [];
let databases = 0;

const REMOVALS_MAX = 100;
const PAUSE_MS = 20;
/** Retries the removal, because rmSync silently stops when a file vanishes and the ending server removes files at the same time. */
const removeWhileItDies = (folder: string): void => {
  for (let n = 0; n < REMOVALS_MAX && existsSync(folder); n++) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    if (existsSync(folder)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
};

const startServer = async (): Promise<Server> => {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    const admin = new pg.Client({ connectionString: given });
    admin.on('error', () => undefined);
    await admin.connect();
    const abandon = (names: readonly string[]): void => {
      const drops = names.map((name) => `await c.query('DROP DATABASE ${name} WITH (FORCE)');`);
      const program = `(async () => { const c = new (require('pg').Client)(process.env.TEST_DATABASE_URL); await c.connect(); ${drops.join('')} await c.end() })()`;
      spawnSync(process.execPath, ['-e', program], { cwd: import.meta.dirname });
    };
    return { connectionString: given, admin, owner: 'DEFAULT', abandon };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'quita-test-pg-'));
  const embedded = await startEmbeddedPostgres({ dataDir, instead: SETTINGS });
  const admin = await openToSuperuser(dataDir, 'trust');
  const postmaster = await postmasterPidIn(dataDir);
  const abandon = (): void => {
    process.kill(postmaster, 'SIGQUIT');
    removeWhileItDies(dataDir);
  };
  return { connectionString: embedded.connectionString, admin, owner: 'quita', abandon };
};

const inDatabase = (connectionString: string, name: string): string => {
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.href;
};

const theServer = (): Promise<Server> => {
  server ??= startServer().then((started) => {
    // On exit, because mocha's workers know when a file has ended, but not when all have.
    process.once('exit', () => started.abandon(names));
    return started;
  });
  return server;
};

/** Creates a database as a copy of `source`. */
const newDatabase = async (source: string, name: string): Promise<TestDatabase> => {
  const { admin, owner, connectionString } = await theServer();
  await admin.query(`CREATE DATABASE ${name} OWNER ${owner} TEMPLATE ${source} STRATEGY FILE_COPY`);
  return {
    connectionString: inDatabase(connectionString, name),
    drop: async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
};

const makeTemplate = async (prepare: Prepare): Promise<string> => {
  const name = `quita_template_${process.pid}_${names.length + 1}`;
  names.push(name);
  const { connectionString } = await newDatabase('template0', name);
  await prepare(connectionString);
  return name;
};

const ownLog = `WITH own AS (UPDATE event_store.store SET id = gen_random_uuid()::text RETURNING id)
  UPDATE subscriptions.checkpoints SET store_id = own.id FROM own`;

/** Returns a copy of a database that `prepare` filled once in this process. The copy's event log gets a new identity. */
export const databaseFrom = async (prepare: Prepare): Promise<TestDatabase> => {
  let template = templates.get(prepare);
  if (template === undefined) {
    template = makeTemplate(prepare);
    templates.set(prepare, template);
  }
  const source = await template;
  databases += 1;
  const database = await newDatabase(source, `quita_test_${process.pid}_${databases}`);
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query(ownLog);
  await client.end();
  return database;
};

/** Returns a new database with all migrations. */
export const migratedDatabase = (): Promise<TestDatabase> => databaseFrom(migrate);

/** Returns a new empty database. */
export const emptyDatabase = (): Promise<TestDatabase> => {
  databases += 1;
  return newDatabase('template0', `quita_test_${process.pid}_${databases}`);
};

/**
 * Adds hooks that open a migrated database and a pool of `connections`, for the whole suite or for each test. `enter` runs before the
 * suite's own hooks of the same kind.
 */
export const useDatabase = (
  per: 'suite' | 'test',
  connections: number,
  enter: (pool: PgPool, database: TestDatabase) => void,
): void => {
  let pool: PgPool;
  let database: TestDatabase;
  const [open, close] = per === 'suite' ? [before, after] : [beforeEach, afterEach];
  open(async () => {
    database = await migratedDatabase();
    pool = new PgPool(connectionConfig(database.connectionString, 'test'), connections, () => undefined);
    enter(pool, database);
  });
  close(async () => {
    await pool.close();
    await database.drop();
  });
};
