// Compares a table of the live copy of a read model with the same table of a replayed copy, in key order and in slices.
import type { Sql } from '../../application/ports/sql.ts';
import { liveSchema, type Projection, verifySchema } from './projection.ts';

export interface Difference {
  readonly table: string;
  /** The row as text, key first; null if it is missing there. */
  readonly live: string | null;
  readonly replayed: string | null;
}

/** Rows that are read at once. */
export const PAGE = 2_000;

type Table = Projection['tables'][number];
type KeyValue = string | number;
interface Row {
  readonly key: readonly KeyValue[];
  /** The key as texts, from which the next slice begins. */
  readonly place: readonly string[];
  readonly text: string;
}

/** Compares numbers by value, and all else by bytes of text, like an index with `COLLATE "C"`. */
const compareKeys = (one: readonly KeyValue[], other: readonly KeyValue[]): number => {
  for (const [n, value] of one.entries()) {
    const against = other[n] as KeyValue;
    const order =
      typeof value === 'number' && typeof against === 'number'
        ? value - against
        : Buffer.compare(Buffer.from(String(value)), Buffer.from(String(against)));
    if (order !== 0) return order;
  }
  return 0;
};

const INSTANT = 'timestamp with time zone';

/** Yields the rows of a table after a place, in key order, as seen by the session's transaction. */
async function* rowsAfter(
  place: readonly string[] | null,
  session: Sql,
  schema: string,
  { name, key, counts = 'true' }: Table,
): AsyncGenerator<Row> {
  const cursor = `verify_${schema}_${name}`;
  const found = await session.query<{ column: string; type: string }>(
    `SELECT attname AS "column", format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = '${schema}.${name}'::regclass AND attname = ANY($1::text[])`,
    [key],
  );
  const types = new Map(found.rows.map(({ column, type }) => [column, type]));
  // Instants are compared in microseconds, because their text does not sort by time.
  const values = key.map((column, n) =>
    types.get(column) === INSTANT
      ? `(extract(epoch FROM t.${column}) * 1000000)::bigint AS k${n}`
      : `t.${column} AS k${n}`,
  );
  const columns = key.map((column) => `t.${column}`);
  const from = key.map((column, n) => `$${n + 1}::text::${types.get(column)}`);
  const isAfter = place === null ? 'true' : `(${columns}) > (${from})`;
  await session.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${values}, ARRAY[${columns.map((column) => `${column}::text`)}] AS place,
      t::text AS text FROM ${schema}.${name} t WHERE (${counts}) AND ${isAfter} ORDER BY ${columns}`,
    place ?? [],
  );
  for (;;) {
    const { rows } = await session.query<{ place: string[]; text: string } & { [key: `k${number}`]: KeyValue }>(
      `FETCH ${PAGE} FROM ${cursor}`,
    );
    for (const row of rows)
      yield { key: key.map((_, n) => row[`k${n}`] as KeyValue), place: row.place, text: row.text };
    if (rows.length < PAGE) break;
  }
  await session.query(`CLOSE ${cursor}`);
}

export class TableComparison {
  readonly #projection: Projection;
  readonly #table: Table;
  #place: readonly string[] | null = null;
  #isDone = false;

  constructor(projection: Projection, table: Table) {
    this.#projection = projection;
    this.#table = table;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Merges both sides from the end of the last slice on, and holds only a page of each, however many rows differ. Both transactions must
   * see the same position of the log. `isFull` is called for each live row; the slice ends when it returns true.
   */
  async slice(live: Sql, copy: Sql, isFull: () => boolean, onDifference: (found: Difference) => void): Promise<void> {
    const { name } = this.#projection;
    const liveRows = rowsAfter(this.#place, live, liveSchema(name), this.#table);
    const replayedRows = rowsAfter(this.#place, copy, verifySchema(name), this.#table);
    let [one, other] = [await liveRows.next(), await replayedRows.next()];
    while (!one.done || !other.done) {
      const order = one.done ? 1 : other.done ? -1 : compareKeys(one.value.key, other.value.key);
      const here = order <= 0 ? (one.value as Row) : null;
      const there = order >= 0 ? (other.value as Row) : null;
      if (here?.text !== there?.text)
        onDifference({
          table: `${name}.${this.#table.name}`,
          live: here?.text ?? null,
          replayed: there?.text ?? null,
        });
      this.#place = ((here ?? there) as Row).place;
      if (here !== null && isFull()) return;
      if (here !== null) one = await liveRows.next();
      if (there !== null) other = await replayedRows.next();
    }
    this.#isDone = true;
  }
}
