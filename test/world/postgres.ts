// One PostgreSQL for all tests of a process: started at the first use, gone when the process is. Each suite takes a fresh database,
// copied from a migrated template. TEST_DATABASE_URL, when set, names a server (and a role that may create databases) to use instead.
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
  /** Drops it, with whatever is still connected. */
  drop(): Promise<void>;
}

/** On an empty database. */
type Prepare = (connectionString: string) => Promise<void>;
interface Server {
  readonly connectionString: string;
  /** Makes and drops databases. */
  readonly admin: pg.Client;
  /** Whose they are: the role of the connection string. */
  readonly owner: string;
  /** At once, when the process exits. */
  abandon(templates: readonly string[]): void;
}

/**
 * Nothing that tests write outlives them, and they make databases all the time: no write need be durable, none is logged for others.
 * Benches, which run outside mocha, measure the server as it is in production.
 */
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
        // It is shared out among all databases of the server, of which there are many here.
        autovacuum_naptime: '15s',
      };

let server: Promise<Server> | null = null;
/** By what filled them. */
const templates = new Map<Prepare, Promise<string>>();
/** Theirs. */
const names: string[] = [];
let databases = 0;

const REMOVALS_MAX = 100;
const PAUSE_MS = 20;
/**
 * A server that dies removes files of its own, and rmSync takes one that it does not find any more for the end of its work: it says
 * nothing, and leaves the rest.
 */
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
    return { connectionString: given, admin, owner: 'CURRENT_USER', abandon };
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
    // Mocha's workers know when a file is over, not when all are.
    process.once('exit', () => started.abandon(names));
    return started;
  });
  return server;
};

/** Copies `source`. */
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

/** A copy of a database that `prepare` filled, once in this process; its event log has an identity of its own. */
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

/** A database with every migration run. */
export const migratedDatabase = (): Promise<TestDatabase> => databaseFrom(migrate);

/** A database in which nothing has run yet. */
export const emptyDatabase = (): Promise<TestDatabase> => {
  databases += 1;
  return newDatabase('template0', `quita_test_${process.pid}_${databases}`);
};

/**
 * Hooks of a suite: a migrated database and a pool of so many connections, for the whole suite or for each of its tests. `enter` is called
 * before the suite's own hooks of the same kind.
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
