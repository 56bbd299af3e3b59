// One connection with known settings, its end, and the meaning of its errors for an append or a read. No 'error' event of pg may end the
// process.
import pg from 'pg';
import { SERVER_SETTINGS } from '../../postgres/session.ts';
import { ConnectionSilent, cutSession, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { whenLate } from '../../waiting.ts';

interface SessionOptions {
  readonly connectionString: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** SET … statements, separated by `;`. They run after the connect, because settings in the connection string override options. */
  readonly settings: string;
  readonly watch: SessionWatch;
  /** Rejects when the session must not be used. */
  readonly check?: (session: pg.Client) => Promise<void>;
}

/** Longest time for each step of opening a session: connecting, its settings, its check. */
const CONNECT_MS_MAX = 3_000;

/** Returns every value as the server's text; positions, times and JSON are converted elsewhere, each in one place. */
const textOnly = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

/** ISO times in UTC. JIT is off, because compiling a plan costs more than running any of these statements. */
const COMMON_SETTINGS = `SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off;
  SET idle_in_transaction_session_timeout = '5s'; ${SERVER_SETTINGS}`;

export const clientConfig = (options: Pick<SessionOptions, 'connectionString' | 'name'>): pg.ClientConfig => ({
  connectionString: options.connectionString,
  application_name: options.name,
  connectionTimeoutMillis: CONNECT_MS_MAX,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  types: textOnly,
});

/** Returns place and id of the newest event. */
export const NEWEST_TEXT = 'SELECT e.position, e.id FROM event_store.events e ORDER BY e.position DESC LIMIT 1';

/** Applies the settings, then checks the session. Each takes at most 3 s, or the connection is cut and the promise rejects. */
export const prepareSession = async <Client extends pg.ClientBase>(
  client: Client,
  settings: string,
  check: ((client: Client) => Promise<void>) | undefined,
): Promise<void> => {
  await withQueryTimeout(client, client.query(`${COMMON_SETTINGS}; ${settings}`), CONNECT_MS_MAX);
  if (check !== undefined) await checkSession(client, check);
};

/** Checks a new session within 3 s, or cuts the connection and rejects. */
export const checkSession = <Client extends pg.ClientBase>(
  client: Client,
  check: (client: Client) => Promise<void>,
): Promise<void> => withQueryTimeout(client, check(client), CONNECT_MS_MAX);

/** Opens a connection, applies its settings and checks it. Each step takes at most 3 s, or rejects. */
export const openSession = async (options: SessionOptions): Promise<pg.Client> => {
  const client = new pg.Client({ ...clientConfig(options) });
  // A lost connection also rejects the running query and emits 'end'. An unhandled 'error' event would end the process.
  client.on('error', () => undefined);
  options.watch.add(client);
  try {
    await client.connect();
    await prepareSession(client, options.settings, options.check);
    return client;
  } catch (error) {
    cutSession(client);
    throw error;
  }
};

/** Resolves with the answer. After `withinMs` without one, cuts the connection and rejects. */
export const withQueryTimeout = async <T>(client: pg.ClientBase, answer: Promise<T>, withinMs: number): Promise<T> => {
  let silent = false;
  try {
    return await whenLate(answer, withinMs, () => {
      silent = true;
      cutSession(client);
    });
  } catch (error) {
    throw silent ? new ConnectionSilent(`the database did not answer within ${withinMs} ms`, { cause: error }) : error;
  }
};

// The meaning of database errors for an append or a read.

/** Returns the SQLSTATE, or null if the server did not answer with an error. */
export const sqlStateOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code !== undefined ? error.code : null;

/**
 * SQLSTATEs that may end the session (FATAL): shutdown, crash, connection, internal, idle and transaction timeouts. They may arrive
 * after the commit, so they prove nothing. The check uses the code, because the severity is translated.
 */
const ENDS_SESSION = /^(57P|08|XX|25P03|25P04)/;
/** Resources, locks, timeouts, shutdown, I/O, deadlock, read-only (a failover): the same flush may succeed later. */
const TRANSIENT = /^(08|25|40|53|55|57|58)/;
const BAD_VALUE = /^22/;
/** Raised by the trigger on event_store.events: the log is sealed, moved, or an unfinished copy. */
const NOT_IN_USE = 'QU001';

/** Whether the server answered with an error and kept the session: then the transaction was rolled back and nothing was written. */
export const wasRolledBack = (error: unknown): boolean => {
  const code = sqlStateOf(error);
  return code !== null && !ENDS_SESSION.test(code);
};

/** Whether a retry may succeed, because the statement did not cause the error. Includes a lost connection. */
export const isTransient = (error: unknown): boolean => {
  const code = sqlStateOf(error);
  return code === null || ENDS_SESSION.test(code) || TRANSIENT.test(code);
};

/** Whether the server rejected a value (SQLSTATE class 22). */
export const isBadValue = (error: unknown): boolean => BAD_VALUE.test(sqlStateOf(error) ?? '');

/** Whether the log accepts no events from any process: nothing was written, and a retry would fail. */
export const isNotInUse = (error: unknown): error is Error => sqlStateOf(error) === NOT_IN_USE;

/** Returns the value as an Error. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
