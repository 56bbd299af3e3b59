// A PostgreSQL server with enough connections for six processes. The embedded one is meant for one process and allows 60.
// TEST_DATABASE_URL names an empty database to use instead.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { locateBinaries } from '../../../infrastructure/embeddedPostgres/binaries.ts';
import { loadSettings, openDataDir } from '../../../infrastructure/embeddedPostgres/dataDir.ts';
import { initialiseCluster } from '../../../infrastructure/embeddedPostgres/initdb.ts';
import { serverArguments } from '../../../infrastructure/embeddedPostgres/launch.ts';
import { CHILD_ENV, serverUser, spawnAs } from '../../../infrastructure/embeddedPostgres/osUser.ts';
import { connectionStringOf } from '../../../infrastructure/embeddedPostgres/socketDir.ts';
import { newDataDir, removeDataDir } from '../../world/program.ts';

/** 20 for each of six processes, those of killed processes that are still ending, and the tools. */
const CONNECTIONS_MAX = 200;
const START_MS = 20_000;
const LOOK_MS = 100;

export interface OwnPostgres {
  readonly connectionString: string;
  stop(): Promise<void>;
}

const answers = async (connectionString: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  const isUp = await client.connect().then(
    () => true,
    () => false,
  );
  await client.end().catch(() => undefined);
  return isUp;
};

const untilUp = async (connectionString: string, server: ChildProcess): Promise<void> => {
  for (const beganAtMs = performance.now(); !(await answers(connectionString)); await pause(LOOK_MS))
    if (server.exitCode !== null || performance.now() - beganAtMs > START_MS)
      throw new Error('PostgreSQL did not start');
};

export const startOwnPostgres = async (): Promise<OwnPostgres> => {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { connectionString: given, stop: async () => undefined };
  const dataDir = await newDataDir();
  const layout = await openDataDir(dataDir);
  const account = await serverUser(layout);
  const binaries = await locateBinaries(account);
  const settings = await loadSettings(layout);
  await initialiseCluster(layout, settings, binaries, account, () => undefined);
  const server = spawn(
    binaries.postgres,
    serverArguments(layout.clusterDir, layout.clusterDir, { max_connections: String(CONNECTIONS_MAX) }),
    { ...spawnAs(account), env: CHILD_ENV, cwd: '/', stdio: 'ignore' },
  );
  const kill = () => server.kill('SIGQUIT');
  process.once('exit', kill);
  const exited = once(server, 'exit');
  const connectionString = connectionStringOf(settings, layout.clusterDir);
  await untilUp(connectionString, server);
  return {
    connectionString,
    stop: async () => {
      process.off('exit', kill);
      server.kill('SIGINT'); // fast shutdown
      await exited;
      await removeDataDir(dataDir);
    },
  };
};
