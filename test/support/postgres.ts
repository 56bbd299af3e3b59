// One PostgreSQL for all tests of a process: started at the first use, gone when the process is. Each suite takes a fresh database,
// copied from a migrated template. TEST_DATABASE_URL, when set, names a server (and a role that may create databases) to use instead.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../infrastructure/boot/migrate.ts';
import { startEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openToSuperuser, postmasterPidIn } from './embeddedPostgres.ts';

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
  /** At once, when the process exits. */
  abandon(template: string): void;
}
interface Cluster {
  readonly server: Server;
  readonly template: string;
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
      };

let cluster: Promise<Cluster> | null = null;
let databases = 0;

const startServer = async (): Promise<Server> => {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    const admin = new pg.Client({ connectionString: given });
    admin.on('error', () => undefined);
    await admin.connect();
    const abandon = (template: string): void => {
      const drop = `const c = new (require('pg').Client)(process.env.TEST_DATABASE_URL); c.connect(); c.query('DROP DATABASE ${template} WITH (FORCE)').finally(() => c.end())`;
      spawnSync(process.execPath, ['-e', drop], { cwd: import.meta.dirname });
    };
    return { connectionString: given, admin, owner: 'CURRENT_USER', abandon };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'quita-test-pg-'));
  const embedded = await startEmbeddedPostgres({ dataDir, instead: SETTINGS });
  const admin = await openToSuperuser(dataDir, 'trust');
  const postmaster = await postmasterPidIn(dataDir);
  const abandon = (): void => {
    process.kill(postmaster, 'SIGQUIT');
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  return { connectionString: embedded.connectionString, admin, owner: 'quita', abandon };
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
  // Mocha's workers know when a file is over, not when all are.
  process.once('exit', () => server.abandon(template));
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
