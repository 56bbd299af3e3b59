// PostgreSQL through `pg`, behind the Sql ports.
import pg from 'pg';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import {
  IntegerArray,
  type Sql,
  type SqlPool,
  type SqlResult,
  type SqlStatement,
  type SqlTransaction,
  TextArray,
} from '../../application/ports/sql.ts';
import { ask } from './ask.ts';
import { int8Array, nullableTextArray } from './binaryArrays.ts';
import { CONNECT_MS_MAX, PoolConnections, watchedClient, withConnection } from './poolConnections.ts';
import { endSession, holdBack, isAsked, SessionWatch, WATCH_TIMINGS, type WatchTimings } from './sessionWatch.ts';

/** Statements format timestamps themselves (`asTimestamp`), because the API's wire format must not pass through a Date. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? (text: string) => Number(text) // amounts are checked against the safe integer range when they are written
      : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

/** The server cancels a statement after this, unless the session sets another timeout. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** The server ends a session that is idle in a transaction for this long: its client is frozen or gone, and others wait for its locks. */
const IDLE_IN_TRANSACTION_MS_MAX = 9_000;
/** Longest wait for a free connection of a pool. */
const FREE_CONNECTION_MS_MAX = 10_000;

/**
 * The timeouts by which the server detects a lost client. TCP detects it within seconds (ignored on Unix sockets and on systems without
 * these options). `idle_session_timeout` detects it if a proxy keeps answering for the client: pools close idle connections much
 * earlier, and held sessions send a statement every second.
 */
const SERVER_TIMERS = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
  idle_session_timeout: 90_000,
};
const SERVER_OPTIONS = Object.entries(SERVER_TIMERS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
export const SERVER_SETTINGS = Object.entries(SERVER_TIMERS)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join('; ');

/** Configuration of sessions. Sessions with the same watch share its findings about silent connections. */
export interface SessionConfig extends pg.ClientConfig {
  readonly watch: SessionWatch;
}

/** Returns the configuration, with this watch, or a new one with these timings. */
export const connectionConfig = (
  connectionString: string,
  applicationName: string,
  watch: SessionWatch | WatchTimings = WATCH_TIMINGS,
): SessionConfig => {
  const config = {
    connectionString,
    application_name: applicationName,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    options: SERVER_OPTIONS,
    // Sends statements without waiting for the answers to earlier ones. The server still runs them one after another, in their order.
    pipeline: true,
  };
  return { ...config, watch: watch instanceof SessionWatch ? watch : new SessionWatch(config, watch) };
};

const encoded = (value: unknown): unknown => {
  if (value instanceof TextArray) return nullableTextArray(value.texts);
  return value instanceof IntegerArray ? int8Array(value.integers) : value;
};

/** For a text of several statements (pg-boss sends such texts), pg returns a list, which its types omit. */
const resultOfMany = <Row>(results: readonly pg.QueryResult[]): SqlResult<Row> => ({
  rows: results.flatMap(({ rows }) => rows as Row[]),
  rowCount: results.at(-1)?.rowCount ?? 0,
});

const run = async <Row>(
  client: Pick<pg.ClientBase, 'query'>,
  statement: SqlStatement | string,
  values?: readonly unknown[],
): Promise<SqlResult<Row>> => {
  const query: SqlStatement =
    typeof statement === 'string' ? { text: statement, ...(values && { values }) } : statement;
  const { values: plain } = query;
  const result = await ask<Row>(client, plain ? { ...query, values: plain.map(encoded) } : (query as pg.QueryConfig));
  return Array.isArray(result) ? resultOfMany<Row>(result) : { rows: result.rows, rowCount: result.rowCount ?? 0 };
};

/**
 * Runs `work` in a transaction on the client. BEGIN is awaited: if it were cancelled, statements behind it would commit one
 * by one. If a statement of `work` failed although it resolved, the server rolls back without an error; this function throws.
 * `onBroken` is called if it can't be rolled back.
 */
const inTransaction = async <T>(
  client: Pick<pg.ClientBase, 'query'>,
  begin: string,
  { query }: Sql,
  work: (tx: SqlTransaction) => Promise<T>,
  onBroken: (error: Error) => void = () => undefined,
): Promise<T> => {
  const listeners: ((isCommitted: boolean) => void)[] = [];
  let isCommitted = false;
  try {
    await ask(client, { text: begin });
    const result = await work({ query, onEnd: (listener) => listeners.push(listener) });
    const { command } = await ask(client, { text: 'COMMIT' });
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back because a statement in it failed');
    isCommitted = true;
    return result;
  } catch (error) {
    await ask(client, { text: 'ROLLBACK' }).catch(onBroken);
    throw error;
  } finally {
    for (const listener of listeners) listener(isCommitted);
  }
};

/** Statements of one turn of the event loop leave in one write: each write wakes the server's process, which costs 50 µs. */
const gathering = (client: pg.ClientBase): Sql => {
  let isGathering = false;
  const gather = (): void => {
    isGathering = true;
    const send = holdBack(client);
    process.nextTick(() => {
      isGathering = false;
      send();
    });
  };
  return {
    query: (statement, values) => {
      if (!isGathering) gather();
      return run(client, statement, values);
    },
  };
};

/**
 * One connection that stays open, mostly idle. An empty statement every second detects a silent connection, and shows the server that a
 * client that is idle in a transaction is alive.
 */
export class PgSession implements Sql {
  readonly client: pg.Client;
  readonly #beat: Repeating;
  readonly #sql: Sql;

  private constructor(client: pg.Client, beatMs: number) {
    this.client = client;
    this.#sql = gathering(client);
    this.#beat = repeating(beatMs, () => {
      if (!isAsked(client)) client.query('').catch(() => undefined); // the loss is reported by the event 'error'
    });
    client.once('end', () => this.#beat.stop());
  }

  /** `onLost` is called once if the connection breaks, although pg reports a cut twice. */
  static async open(
    { watch, ...config }: SessionConfig,
    onLost: (error: Error) => void = () => undefined,
  ): Promise<PgSession> {
    const client = new pg.Client(config);
    let isLost = false;
    client.on('error', (error) => {
      if (!isLost) onLost(error);
      isLost = true;
    });
    watch.add(client);
    await client.connect();
    return new PgSession(client, 2 * watch.timings.lookMs);
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return this.#sql.query<Row>(statement, values);
  }

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    return inTransaction(this.client, begin, this.#sql, work);
  }

  /** Closes the connection within a second, even if the server is silent. */
  async close(): Promise<void> {
    await this.#beat.stop();
    await endSession(this.client);
  }
}

export class PgPool implements SqlPool {
  readonly #pool: pg.Pool;
  readonly #connections: PoolConnections;

  constructor({ watch, ...config }: SessionConfig, max: number, onError: (error: Error) => void) {
    this.#pool = new pg.Pool({
      ...config,
      max,
      connectionTimeoutMillis: FREE_CONNECTION_MS_MAX,
      idleTimeoutMillis: 60_000,
      Client: watchedClient(watch),
    });
    this.#connections = new PoolConnections(this.#pool, watch);
    this.#pool.on('error', onError); // an idle connection broke: the pool replaces it
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return run<Row>(this.#pool as unknown as pg.ClientBase, statement, values);
  }

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    return withConnection(this.#pool, ({ client, onBroken, broken }) => {
      const unlessBroken = async (tx: SqlTransaction): Promise<T> => {
        const result = await work(tx);
        const cause = broken();
        if (cause) throw cause; // COMMIT would only report that it can't be sent
        return result;
      };
      return inTransaction(client, begin, gathering(client), unlessBroken, onBroken);
    });
  }

  /** Resolves when the server has closed every connection. */
  close(): Promise<void> {
    return this.#connections.end();
  }
}
