// A Postgres session or pool, for read models and operational tables. Facts never go through here.

/**
 * A `text[]` parameter for many or large texts: sent in the binary format, where a plain array would be written as one text with every
 * quote of a JSON escaped, and parsed again by the server. The statement must say `::text[]`.
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
  /**
   * Runs `work` in one transaction on one connection: committed when it resolves, rolled back when it rejects. `begin`: its first
   * statement, for another isolation than the database's own.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, begin?: string): Promise<T>;
}
