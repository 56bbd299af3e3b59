// Postgres through `pg`, as the Sql ports want it.
import pg from 'pg';
import { type Sql, type SqlPool, type SqlResult, type SqlStatement, TextArray } from '../../application/ports/sql.ts';
import { nullableTextArray } from '../eventStore/postgres/binaryArrays.ts';
import { PoolConnections } from './poolConnections.ts';

/** Times come back as the text they are; the wire format of the interface never goes through a Date. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? (text: string) => Number(text) // sums of money are checked against the safe range where they are written
      : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

/** A statement may take this long before the server ends it, unless the session says otherwise. */
const STATEMENT_TIMEOUT_MS = 30_000;

export const connectionConfig = (connectionString: string, applicationName: string): pg.ClientConfig => ({
  connectionString,
  application_name: applicationName,
  types,
  keepAlive: true,
  connectionTimeoutMillis: 10_000,
  statement_timeout: STATEMENT_TIMEOUT_MS,
});

const encoded = (value: unknown): unknown => (value instanceof TextArray ? nullableTextArray(value.texts) : value);

/** pg answers a text of several statements (pg-boss sends such) with a list, which its types do not tell. */
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
  const result = await client.query(
    query.values ? { ...query, values: query.values.map(encoded) } : (query as pg.QueryConfig),
  );
  return Array.isArray(result)
    ? resultOfMany<Row>(result)
    : { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
};

/** COMMIT of a transaction in which a statement failed rolls back and is no error to the server: to whoever counts on it, it is one. */
const commit = async (client: Pick<pg.ClientBase, 'query'>): Promise<void> => {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed');
};

/** One connection, held. */
export class PgSession implements Sql {
  readonly client: pg.Client;

  private constructor(client: pg.Client) {
    this.client = client;
  }

  /** `onLost`: the connection broke while it was held. Called once, though pg tells of a cut twice. */
  static async open(config: pg.ClientConfig, onLost: (error: Error) => void = () => undefined): Promise<PgSession> {
    const client = new pg.Client(config);
    let isLost = false;
    client.on('error', (error) => {
      if (!isLost) onLost(error);
      isLost = true;
    });
    await client.connect();
    return new PgSession(client);
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return run<Row>(this.client, statement, values);
  }

  async transaction<T>(work: (tx: Sql) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    await this.client.query(begin);
    try {
      const result = await work(this);
      await commit(this.client);
      return result;
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

export class PgPool implements SqlPool {
  readonly #pool: pg.Pool;
  readonly #connections: PoolConnections;

  constructor(config: pg.ClientConfig, max: number, onError: (error: Error) => void) {
    this.#pool = new pg.Pool({ ...config, max, idleTimeoutMillis: 60_000 });
    this.#connections = new PoolConnections(this.#pool);
    this.#pool.on('error', onError); // an idle connection broke: the pool replaces it
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return run<Row>(this.#pool as unknown as pg.ClientBase, statement, values);
  }

  async transaction<T>(work: (tx: Sql) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    // The pool listens to idle connections only, and an error that nobody hears ends the process. The statements reject anyway.
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    try {
      await client.query(begin);
      const result = await work({ query: (statement, values) => run(client, statement, values) });
      await commit(client);
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(onBroken);
      throw error;
    } finally {
      client.release(broken); // listens again from here on
      client.off('error', onBroken);
    }
  }

  /** Resolves when the server has let go of every connection. */
  close(): Promise<void> {
    return this.#connections.end();
  }
}
