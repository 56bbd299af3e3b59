// The usual read model: one row per stream, holding the fold of the stream by its decider and the columns one searches by.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { EventOf } from '../../domain/events.ts';
import type { Decider } from '../../domain/kernel/decider.ts';
import type { Category } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { LruMap } from '../../domain/kernel/lruMap.ts';
import type { Projection, ProjectionWriter } from './projection.ts';

/** A searchable column: its type is `text`, `bigint`, `integer` or `timestamptz`. */
export interface Column<State> {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'integer' | 'timestamptz';
  readonly of: (state: State) => string | number | null;
}

export interface FoldedTable<C extends Category, State> {
  readonly name: string;
  readonly version: number;
  readonly category: C;
  readonly decider: Decider<State, EventOf[C]>;
  readonly table: string;
  readonly columns: readonly Column<State>[];
  /** `columns` is a column list, with `account_id` and `mode` available; `where` makes the index partial. */
  readonly indexes: readonly { readonly columns: string; readonly where?: string }[];
}

interface Row<State> {
  readonly account: AccountId;
  readonly mode: Mode;
  readonly revision: number;
  readonly state: State;
}

/** Rows remembered between batches, so that an event on a recent stream needs no read. */
const REMEMBERED_ROWS = 20_000;

const FIXED = ['id', 'account_id', 'mode', 'revision', 'state'] as const;
const FIXED_TYPES = ['text', 'text', 'text', 'integer', 'text'] as const;

export const foldedTable = <C extends Category, State>(spec: FoldedTable<C, State>): Projection => ({
  name: spec.name,
  version: spec.version,
  categories: [spec.category],
  tables: [{ name: spec.table, key: ['id'] }],
  ddl: (schema) => {
    const columns = spec.columns
      .map(({ name, type }) => `, ${name} ${type}${type === 'text' ? ' COLLATE "C"' : ''}`)
      .join('');
    return `CREATE TABLE ${schema}.${spec.table} (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL, revision integer NOT NULL, state text NOT NULL${columns});
      ${spec.indexes.map((index) => `CREATE INDEX ON ${schema}.${spec.table} (${index.columns})${index.where ? ` WHERE ${index.where}` : ''};`).join('\n')}`;
  },
  writer: (schema) => new FoldedTableWriter(spec, schema),
});

class FoldedTableWriter<C extends Category, State> implements ProjectionWriter {
  readonly #spec: FoldedTable<C, State>;
  readonly #remembered = new LruMap<string, Row<State>>(REMEMBERED_ROWS);
  readonly #select: string;
  readonly #upsert: { name: string; text: string };

  constructor(spec: FoldedTable<C, State>, schema: string) {
    this.#spec = spec;
    const table = `${schema}.${spec.table}`;
    const names = [...FIXED, ...spec.columns.map(({ name }) => name)];
    const types = [...FIXED_TYPES, ...spec.columns.map(({ type }) => type)];
    const changing = names.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);
    this.#select = `SELECT id, account_id AS account, mode, revision, state FROM ${table} WHERE id = ANY($1::text[])`;
    this.#upsert = {
      name: `upsert_${table}`,
      text: `INSERT INTO ${table} AS t (${names}) SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`)})
        ON CONFLICT (id) DO UPDATE SET ${changing} WHERE t.revision < excluded.revision`,
    };
  }

  reset(): void {
    this.#remembered.clear();
  }

  async apply(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const rows = await this.#rowsBefore(events, tx);
    for (const { subject, account, mode, revision, event } of events) {
      const row = rows.get(subject);
      if (row && row.revision >= revision) continue; // rows never go backwards
      const state = this.#spec.decider.evolve(row?.state ?? this.#spec.decider.initial, event as EventOf[C]);
      rows.set(subject, { account, mode, revision, state });
    }
    const { columns } = this.#spec;
    const ids = [...rows.keys()];
    const list = [...rows.values()];
    const values = [
      new TextArray(ids),
      new TextArray(list.map((row) => row.account)),
      new TextArray(list.map((row) => row.mode)),
      list.map((row) => row.revision),
      new TextArray(list.map((row) => JSON.stringify(row.state))),
      ...columns.map(({ type, of }) => {
        const cells = list.map((row) => of(row.state));
        return type === 'text' ? new TextArray(cells as (string | null)[]) : cells;
      }),
    ];
    await tx.query({ ...this.#upsert, values });
    for (const [id, row] of rows) this.#remembered.set(id, row);
  }

  async #rowsBefore(events: readonly LoggedEvent[], tx: Sql): Promise<Map<string, Row<State>>> {
    const rows = new Map<string, Row<State>>();
    const unknown = new Set<string>();
    for (const { subject, revision } of events) {
      if (rows.has(subject) || unknown.has(subject)) continue;
      const row = this.#remembered.get(subject);
      if (row) rows.set(subject, row);
      else if (revision > 0) unknown.add(subject);
    }
    if (unknown.size > 0) {
      const found = await tx.query<{ id: string; account: AccountId; mode: Mode; revision: number; state: string }>(
        this.#select,
        [[...unknown]],
      );
      for (const { id, state, ...row } of found.rows) rows.set(id, { ...row, state: JSON.parse(state) as State });
    }
    return rows;
  }
}
