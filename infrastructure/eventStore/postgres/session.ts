// One connection with known settings, how to get rid of it, and what its errors mean for an append or a read. No 'error' event of pg
// may end the process.
import pg from 'pg';
import { SERVER_SETTINGS } from '../../postgres/session.ts';
import { ConnectionSilent, cutSession, endSession, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { whenLate } from '../../waiting.ts';

interface SessionOptions {
  readonly connectionString: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** SET … statements, separated by `;`. They follow the connect, because settings inside the connection string win over options. */
  readonly settings: string;
  readonly watch: SessionWatch;
  /** Rejects when the session must not be used. */
  readonly check?: (session: pg.Client) => Promise<void>;
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

/** Place and id of the newest event. */
export const NEWEST_TEXT = 'SELECT e.position, e.id FROM event_store.events e ORDER BY e.position DESC LIMIT 1';

export const closeSession = endSession;

/** Connected, set up and checked. Rejects within 3 s of each. */
export const openSession = async (options: SessionOptions): Promise<pg.Client> => {
  const client = new pg.Client({ ...clientConfig(options) });
  // A lost connection rejects the running query and emits 'end'; 'error' says nothing more, but unheard it would end the process.
  client.on('error', () => undefined);
  options.watch.add(client);
  try {
    await client.connect();
    await withQueryTimeout(client, client.query(`${COMMON_SETTINGS}; ${options.settings}`), CONNECT_MS_MAX);
    if (options.check !== undefined) await withQueryTimeout(client, options.check(client), CONNECT_MS_MAX);
    return client;
  } catch (error) {
    cutSession(client);
    throw error;
  }
};

/** The answer, or the connection cut and a rejection after `withinMs`: a silent server must not hold anybody up. */
export const withQueryTimeout = async <T>(client: pg.Client, answer: Promise<T>, withinMs: number): Promise<T> => {
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

// What an error of the database means for an append or a read.

/** null: the server did not answer with an error. */
export const sqlStateOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code !== undefined ? error.code : null;

/**
 * SQLSTATEs that may come with the end of the session (FATAL): shutdown, crash, connection, internal, idle and transaction timeouts.
 * They may reach us after the commit, so they prove nothing. Judged by code, because the severity's word is translated.
 */
const ENDS_SESSION = /^(57P|08|XX|25P03|25P04)/;
/** Resources, locks and timeouts, shutdown, I/O, deadlock, read-only (a failover): the same flush may succeed later. */
const TRANSIENT = /^(08|25|40|53|55|57|58)/;
const BAD_VALUE = /^22/;
/** Raised by the trigger on event_store.events: the log is sealed, moved, or an unfinished copy. */
const NOT_IN_USE = 'QU001';

/** The server answered with an error and kept the session: the transaction was rolled back and nothing was written. */
export const wasRolledBack = (error: unknown): boolean => {
  const code = sqlStateOf(error);
  return code !== null && !ENDS_SESSION.test(code);
};

/** Not the fault of what was sent: try again. A lost connection counts too. */
export const isTransient = (error: unknown): boolean => {
  const code = sqlStateOf(error);
  return code === null || ENDS_SESSION.test(code) || TRANSIENT.test(code);
};

/** The server refused a value (SQLSTATE class 22). */
export const isBadValue = (error: unknown): boolean => BAD_VALUE.test(sqlStateOf(error) ?? '');

/** The log takes no events, from nobody: nothing was written, nor will be. */
export const isNotInUse = (error: unknown): error is Error => sqlStateOf(error) === NOT_IN_USE;

/** pg and Node may reject with several errors at once (AggregateError without a message). */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
