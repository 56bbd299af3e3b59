// A table of counters. The changes of a batch are summed in memory and then added in one statement.

import { IntegerArray, type Sql, TextArray } from '../../application/ports/sql.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { AggregateChange, DerivedTable } from './aggregateTable.ts';

export interface CounterTable<Count extends string> {
  readonly name: string;
  /** Text columns in primary-key order. */
  readonly key: readonly string[];
  /** `bigint` columns. */
  readonly counts: readonly Count[];
  /**
   * Whether a row of zeros means the same as none. Keys whose additions cancel out in a batch are then left out, and `verify` ignores such
   * rows. Required where counted streams may be deleted from the log. Default: rows don't depend on how events form batches.
   */
  readonly zeroIsNone?: true;
}

/** The sums of one batch by key. */
export class Additions<Count extends string> {
  readonly #rows = new Map<string, { readonly key: readonly string[]; readonly sums: { [C in Count]?: number } }>();

  add(key: readonly string[], additions: { readonly [C in Count]?: number }): void {
    const name = key.join('\u0000');
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = { key, sums: {} };
      this.#rows.set(name, row);
    }
    for (const count in additions) row.sums[count] = (row.sums[count] ?? 0) + (additions[count] ?? 0);
  }

  get rows(): readonly { readonly key: readonly string[]; readonly sums: { readonly [C in Count]?: number } }[] {
    return [...this.#rows.values()];
  }
}

/** Leaves free space in each page, so that an updated counter stays on its page and needs no index update. */
const FILL_FACTOR = 70;

/** Returns the statement that creates the table. */
export const counterDdl = <Count extends string>({ name, key, counts }: CounterTable<Count>, schema: string): string =>
  `CREATE TABLE ${schema}.${name} (${key.map((column) => `${column} text COLLATE "C" NOT NULL`)},
     ${counts.map((count) => `${count} bigint NOT NULL`)}, PRIMARY KEY (${key})) WITH (fillfactor = ${FILL_FACTOR});`;

/** Returns a function that adds the sums of a batch in one statement. */
export const addCounts = <Count extends string>(
  { name, key, counts, zeroIsNone }: CounterTable<Count>,
  schema: string,
): ((additions: Additions<Count>, tx: Sql) => Promise<void>) => {
  const table = `${schema}.${name}`;
  const types = [...key.map(() => 'text'), ...counts.map(() => 'bigint')];
  const text = `INSERT INTO ${table} AS t (${[...key, ...counts]}) SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`)})
    ON CONFLICT (${key}) DO UPDATE SET ${counts.map((count) => `${count} = t.${count} + excluded.${count}`)}`;
  return async (additions, tx) => {
    const rows = zeroIsNone ? additions.rows.filter(({ sums }) => counts.some((count) => sums[count])) : additions.rows;
    if (rows.length === 0) return;
    const values = [
      ...key.map((_, n) => new TextArray(rows.map((row) => row.key[n] as string))),
      ...counts.map((count) => new IntegerArray(rows.map(({ sums }) => sums[count] ?? 0))),
    ];
    await tx.query({ name: `add_${table}`, text, values });
  };
};

/** Returns a condition on a row `t`. */
const isAny = (counts: readonly string[]): string => counts.map((count) => `t.${count} <> 0`).join(' OR ');

/** A derived table that counts changes and caches nothing between batches. */
export const counterTable = <State, Event extends Fact<string, unknown>, Count extends string>(
  table: CounterTable<Count>,
  additionsOf: (changes: readonly AggregateChange<State, Event>[]) => Additions<Count>,
): DerivedTable<State, Event> => ({
  tables: [{ name: table.name, key: table.key, ...(table.zeroIsNone && { counts: isAny(table.counts) }) }],
  ddl: (schema) => counterDdl(table, schema),
  writer: (schema) => {
    const add = addCounts(table, schema);
    return { reset: () => undefined, apply: (changes, tx) => add(additionsOf(changes), tx) };
  },
});
