// A Postgres session or pool, for read models and operational tables. Facts never go through here.

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepared under this name on each connection. Same name, same text. */
  readonly name?: string;
}
export interface SqlResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}
export interface Sql {
  query<Row = Record<string, unknown>>(
    statement: SqlStatement | string,
    values?: readonly unknown[],
  ): Promise<SqlResult<Row>>;
}
export interface SqlPool extends Sql {
  /** Runs `work` in one transaction on one connection: committed when it resolves, rolled back when it rejects. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}
