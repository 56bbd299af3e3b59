// A Postgres session or pool, for read models and operational tables. Facts are never written through it.

/**
 * A `text[]` parameter for many or large texts, sent in the binary format. A plain array would be sent as one text, with every quote of a
 * JSON escaped, which the server must parse. The statement must contain `::text[]`.
 */
export class TextArray {
  readonly texts: readonly (string | null)[];

  constructor(texts: readonly (string | null)[]) {
    this.texts = texts;
  }
}

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepared under this name on each connection. Statements with the same name must have the same text. */
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
  /**
   * Runs `work` in one transaction on one connection. Commits if it resolves, rolls back if it rejects. `begin`: the first statement, to
   * use another isolation level than the database's default.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, begin?: string): Promise<T>;
}
