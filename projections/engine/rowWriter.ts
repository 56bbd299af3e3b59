// Writes rows of a table with one row per stream: one statement for new rows, and one for changed rows.
import { type Sql, TextArray } from '../../application/ports/sql.ts';

/** A column to write. `of` returns its text. */
export interface Cell<Row> {
  readonly name: string;
  readonly type: string;
  readonly of: (row: Row, id: string) => string | number | null;
}

/** Rows by their `id` column. */
type Rows<Row> = ReadonlyMap<string, Row>;

export class RowWriter<Row> {
  readonly #cells: readonly Cell<Row>[];
  readonly #insert: { readonly name: string; readonly text: string };
  readonly #upsert: { readonly name: string; readonly text: string };

  /** `cells` include `id` and `revision`. */
  constructor(table: string, cells: readonly Cell<Row>[]) {
    this.#cells = cells;
    const names = cells.map(({ name }) => name);
    const changing = names.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);
    // In the target list, because FROM would first materialize every column.
    const insert = `INSERT INTO ${table} AS t (${names}) SELECT ${cells.map(({ type }, i) => `unnest($${i + 1}::text[])::${type}`)}`;
    this.#insert = { name: `insert_${table}`, text: insert };
    this.#upsert = {
      name: `upsert_${table}`,
      text: `${insert} ON CONFLICT (id) DO UPDATE SET ${changing} WHERE t.revision < excluded.revision`,
    };
  }

  insert(rows: Rows<Row>, tx: Sql): Promise<void> {
    return this.#write(this.#insert, rows, tx);
  }

  /** Inserts or updates rows. Ignores rows older than the stored ones. */
  upsert(rows: Rows<Row>, tx: Sql): Promise<void> {
    return this.#write(this.#upsert, rows, tx);
  }

  async #write(statement: { readonly name: string; readonly text: string }, rows: Rows<Row>, tx: Sql): Promise<void> {
    if (rows.size === 0) return;
    const list = [...rows];
    const values = this.#cells.map(({ of }) => new TextArray(list.map(([id, row]) => of(row, id)?.toString() ?? null)));
    await tx.query({ ...statement, values });
  }
}
