// One PostgreSQL for all tests of a mocha process: started at the first use, stopped by a root hook. Each suite takes a fresh database,
// copied from a migrated template. TEST_DATABASE_URL, when set, names a server (and a role that may create databases) to use instead.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../infrastructure/boot/migrate.ts';
import { startEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openToSuperuser } from './embeddedPostgres.ts';

export interface TestDatabase {
  readonly connectionString: string;
  /** Drops it, with whatever is still connected. */
  drop(): Promise<void>;
}

interface Server {
  readonly connectionString: string;
  /** Makes and drops databases. */
  readonly admin: pg.Client;
  /** Whose they are: the role of the connection string. */
  readonly owner: string;
  stop(): Promise<void>;
}
interface Cluster {
  readonly server: Server;
  readonly template: string;
}

/** Nothing here outlives the tests, and databases are made all the time: no write need be durable, none is logged for others. */
const FOR_TESTS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_compression: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
};

let cluster: Promise<Cluster> | null = null;
let databases = 0;

const startServer = async (): Promise<Server> => {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    const admin = new pg.Client({ connectionString: given });
    admin.on('error', () => undefined);
    await admin.connect();
    return { connectionString: given, admin, owner: 'CURRENT_USER', stop: () => admin.end() };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'quita-test-pg-'));
  const embedded = await startEmbeddedPostgres({ dataDir, instead: FOR_TESTS });
  const admin = await openToSuperuser(dataDir);
  const stop = async (): Promise<void> => {
    await admin.end();
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { connectionString: embedded.connectionString, admin, owner: 'quita', stop };
};

const inDatabase = (connectionString: string, name: string): string => {
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.href;
};

const startCluster = async (): Promise<Cluster> => {
  const server = await startServer();
  const { admin, owner } = server;
  const template = `quita_template_${process.pid}`;
  await admin.query(`DROP DATABASE IF EXISTS ${template}`);
  await admin.query(`CREATE DATABASE ${template} OWNER ${owner}`);
  await migrate(inDatabase(server.connectionString, template));
  return { server, template };
};

const newDatabase = async (template: 'migrated' | 'empty'): Promise<TestDatabase> => {
  cluster ??= startCluster();
  const { server, template: migrated } = await cluster;
  const { admin, owner } = server;
  databases += 1;
  const name = `quita_test_${process.pid}_${databases}`;
  const source = template === 'migrated' ? migrated : 'template0';
  await admin.query(`CREATE DATABASE ${name} OWNER ${owner} TEMPLATE ${source} STRATEGY FILE_COPY`);
  const connectionString = inDatabase(server.connectionString, name);
  return {
    connectionString,
    drop: async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
};

/** A database with every migration run, and an event log with an identity of its own. */
export const migratedDatabase = async (): Promise<TestDatabase> => {
  const database = await newDatabase('migrated');
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query('UPDATE event_store.store SET id = gen_random_uuid()::text');
  await client.end();
  return database;
};

/** A database in which nothing has run yet. */
export const emptyDatabase = (): Promise<TestDatabase> => newDatabase('empty');

/** For programs outside mocha; the root hook calls it otherwise. */
export const stopTestPostgres = async (): Promise<void> => {
  if (cluster === null) return;
  const { server, template } = await cluster;
  cluster = null;
  await server.admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
  await server.stop();
};

// This module is loaded while mocha reads the test files, outside any describe: the hook belongs to the root suite.
if (typeof after === 'function') {
  after('stop the PostgreSQL of the tests', async function stopAll() {
    this.timeout(30_000);
    await stopTestPostgres();
  });
}
