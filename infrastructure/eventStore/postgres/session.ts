// One connection with known settings, and how to get rid of it. No 'error' event of pg may end the process.
import pg from 'pg';
import { SERVER_SETTINGS } from '../../postgres/session.ts';
import { ConnectionSilent, cutSession, endSession, type SessionWatch } from '../../postgres/sessionWatch.ts';

export interface SessionOptions {
  readonly connectionString: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** SET … statements, separated by `;`. They follow the connect, because settings inside the connection string win over options. */
  readonly settings: string;
  readonly watch: SessionWatch;
}

const CONNECT_MS_MAX = 3_000;

/** Every value as the server's text: positions, times and JSON are turned into ours in one place each. */
const textOnly = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

/** ISO times in UTC; a plan compiled by JIT costs more than any of our statements. */
export const COMMON_SETTINGS = `SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off;
  SET idle_in_transaction_session_timeout = '5s'; ${SERVER_SETTINGS}`;

export const clientConfig = (options: Pick<SessionOptions, 'connectionString' | 'name'>): pg.ClientConfig => ({
  connectionString: options.connectionString,
  application_name: options.name,
  connectionTimeoutMillis: CONNECT_MS_MAX,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  types: textOnly,
});

export const closeSession = endSession;

/** Connected and set up. Rejects within 3 s of connecting and 3 s of setting up. */
export const openSession = async (options: SessionOptions): Promise<pg.Client> => {
  const client = new pg.Client({ ...clientConfig(options) });
  // A lost connection rejects the running query and emits 'end'; 'error' says nothing more, but unheard it would end the process.
  client.on('error', () => undefined);
  options.watch.add(client);
  try {
    await client.connect();
    await withQueryTimeout(client, client.query(`${COMMON_SETTINGS}; ${options.settings}`), CONNECT_MS_MAX);
    return client;
  } catch (error) {
    cutSession(client);
    throw error;
  }
};

/** The answer, or the connection cut and a rejection after `withinMs`: a silent server must not hold anybody up. */
export const withQueryTimeout = async <T>(client: pg.Client, answer: Promise<T>, withinMs: number): Promise<T> => {
  let silent = false;
  const timer = setTimeout(() => {
    silent = true;
    cutSession(client);
  }, withinMs);
  try {
    return await answer;
  } catch (error) {
    throw silent ? new ConnectionSilent(`the database did not answer within ${withinMs} ms`, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
};
