// The usual read model: one row per stream, holding the fold of the stream by its decider and the columns one searches by. What else
// follows from the same fold (counters, a narrow table for lists) is kept beside it, in the same batch, without a second fold.

import { LRUCache } from 'lru-cache';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import type { Decider } from '../../domain/kernel/decider.ts';
import type { Fact } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import {
  liveSchema,
  type OperationalCheck,
  type Projection,
  type ProjectionTable,
  type ProjectionWriter,
} from './projection.ts';
import { type Cell, RowWriter } from './rowWriter.ts';

/** A searchable column. */
export interface Column<State> {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'integer' | 'timestamptz' | 'jsonb';
  readonly of: (state: State) => string | number | null;
  /** It follows from what else the row holds: the state is read without it. */
  readonly isDerived?: true;
  /** Kept in a table of its own, `<table>_apart`, so that reading all rows for a sort reads few pages. */
  readonly isApart?: true;
}

/** A row as it is read back: instants as timestamps. */
export type ColumnValues = { readonly [column: string]: string | number | null };

interface AggregateTable<State, Event extends Fact<string, unknown>> {
  readonly name: string;
  readonly version: number;
  readonly aggregate: Aggregate<State, Event>;
  readonly table: string;
  readonly columns: readonly Column<State>[];
  /** Reads the state back from the columns, which then tell it alone. Default: it is stored besides, as JSON. */
  readonly fromColumns?: (values: ColumnValues) => State;
  /** Columns that PostgreSQL keeps: a hash of a text over other columns, so that an index by many of them stays small. */
  readonly hashes?: readonly { readonly name: string; readonly of: string }[];
  /** `columns` is a column list, with `account_id` and `mode` available; `where` makes the index partial; a B-tree, if not `hash`. */
  readonly indexes: readonly { readonly columns: string; readonly where?: string; readonly using?: 'hash' }[];
  /** A status that the state has, and when it became that: the date is kept in the column `status_since`. */
  readonly status?: { readonly of: (state: State) => string | null; readonly at: (event: Event) => Timestamp };
  /** Keeps the day (UTC) on which the store recorded the stream's last event, in the column `recorded_on`. */
  readonly keepsRecordedOn?: true;
  readonly derived?: readonly DerivedTable<State, Event>[];
}

/** A stream's fold so far. */
export interface AggregateRow<State> {
  readonly account: AccountId;
  readonly mode: Mode;
  readonly revision: number;
  readonly state: State;
  /** null: the state has none, or none is kept. */
  readonly status: string | null;
  /** When the status became what it is; null together with it. */
  readonly statusSince: Timestamp | null;
}

/** One event's step. `before`: undefined when it is the stream's first. */
export interface AggregateChange<State, Event extends Fact<string, unknown>> {
  readonly subject: string;
  readonly event: Event;
  readonly before: AggregateRow<State> | undefined;
  readonly after: AggregateRow<State>;
}

/** Tables of the same projection that follow from the same steps. */
export interface DerivedTable<State, Event extends Fact<string, unknown>> {
  readonly tables: readonly ProjectionTable[];
  readonly checks?: readonly OperationalCheck[];
  ddl(schema: string): string;
  writer(schema: string): {
    reset(): void;
    /** Steps in log order, each once. */
    apply(changes: readonly AggregateChange<State, Event>[], tx: Sql): Promise<void>;
  };
}

/** Rows remembered between batches, so that an event on a recent stream needs no read. */
const REMEMBERED_ROWS = 10_000;

/** Whose row it is. */
const IDENTITY = ['id', 'account_id', 'mode'] as const;

/** The column of an instant as it is read back: a timestamp. */
export const asTimestamp = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL of the 64 bits that stand for a text in a narrow index. */
export const hashOf = (text: string): string => `hashtextextended(${text}, 0)`;

/** An instant as milliseconds: the server writes it in 0.4 µs, a timestamp in 2.5. */
const asMillis = (column: string): string => `(date_part('epoch', ${column}) * 1000)::bigint`;

/** How a state is read from the columns of a row. */
interface RowReader<State> {
  /** The row's identity and columns, of the table in `schema` that is called `alias`. */
  readonly select: (schema: string, alias: string) => string;
  /** Takes a row of what was selected, which it changes. */
  readonly read: (row: ColumnValues) => State;
}

const apartOf = (table: string): string => `${table}_apart`;

/** Reads a column of the row of `schema.table` that is called `alias`, wherever it is kept. */
const kept = ({ name, isApart }: Column<never>, schema: string, table: string, alias: string): string =>
  isApart ? `(SELECT a.${name} FROM ${schema}.${apartOf(table)} a WHERE a.id = ${alias}.id)` : `${alias}.${name}`;

export const rowReader = <State>(
  table: string,
  columns: readonly Column<State>[],
  fromColumns: (values: ColumnValues) => State,
): RowReader<State> => {
  const told = columns.filter(({ isDerived }) => !isDerived);
  const instants = told.filter(({ type }) => type === 'timestamptz').map(({ name }) => name);
  return {
    select: (schema, alias) =>
      [
        ...IDENTITY.map((name) => `${alias}.${name}`),
        ...told.map((column) => {
          const value = kept(column, schema, table, alias);
          return `${column.type === 'timestamptz' ? asMillis(value) : value} AS ${column.name}`;
        }),
      ].join(', '),
    read: (row) => {
      const values = row as { [column: string]: string | number | null };
      for (const name of instants) {
        const millis = values[name] as number | null;
        values[name] = millis === null ? null : fromMillis(millis);
      }
      return fromColumns(values);
    },
  };
};

/** How the state stands in a row. */
const storedState = <State, Event extends Fact<string, unknown>>({
  name,
  table,
  columns,
  fromColumns,
}: AggregateTable<State, Event>) => {
  if (fromColumns === undefined)
    return {
      select: (_schema: string, alias: string) => [...IDENTITY, 'state'].map((own) => `${alias}.${own}`).join(', '),
      read: (row: ColumnValues): State => JSON.parse(row.state as string) as State,
      stored: 'state',
      textOf: (state: State): string => JSON.stringify(state),
    };
  const told = columns.filter(({ isDerived }) => !isDerived);
  const selected = told.map((column) => {
    const value = kept(column, liveSchema(name), table, table);
    return column.type === 'timestamptz' ? asTimestamp(value) : value;
  });
  return {
    ...rowReader(table, columns, fromColumns),
    stored: `json_build_array(${selected})::text`,
    textOf: (state: State): string => `[${told.map(({ of }) => JSON.stringify(of(state))).join(', ')}]`,
  };
};

export const aggregateTable = <State, Event extends Fact<string, unknown>, Name extends string>(
  spec: AggregateTable<State, Event> & { readonly name: Name },
): Projection<Name> => {
  const beside = spec.derived ?? [];
  const { stored, textOf } = storedState(spec);
  return {
    name: spec.name,
    version: spec.version,
    categories: [spec.aggregate.category],
    aggregates: [
      {
        table: spec.table,
        category: spec.aggregate.category,
        decider: spec.aggregate.decider as unknown as Decider<unknown, unknown>,
        stored,
        textOf: textOf as (state: unknown) => string,
      },
    ],
    tables: [
      { name: spec.table, key: ['id'] },
      ...(hasApart(spec) ? [{ name: apartOf(spec.table), key: ['id'] }] : []),
      ...beside.flatMap(({ tables }) => tables),
    ],
    checks: beside.flatMap(({ checks = [] }) => checks),
    ddl: (schema) => [ownDdl(spec, schema), ...beside.map((one) => one.ddl(schema))].join('\n'),
    writer: (schema) => new AggregateTableWriter(spec, schema),
  };
};

/** An event of the stream is missing: the state would be wrong from here on. */
export class RevisionGap extends Error {
  override name = 'RevisionGap';
}

/** Throws RevisionGap when the row, at `revision`, lacks an event before this one that no operator had skipped. */
const assertNext = ({ stream, revision, previousRevision = revision - 1 }: LoggedEvent, from: number): void => {
  if (from < previousRevision)
    throw new RevisionGap(`${stream}: event ${revision} after event ${from < 0 ? 'none' : from}`);
};

const hasApart = <State, Event extends Fact<string, unknown>>({ columns }: AggregateTable<State, Event>): boolean =>
  columns.some(({ isApart }) => isApart);

const ddlOf = ({ name, type }: Pick<Column<never>, 'name' | 'type'>): string =>
  `, ${name} ${type}${type === 'text' ? ' COLLATE "C"' : ''}`;

const ownDdl = <State, Event extends Fact<string, unknown>>(
  spec: AggregateTable<State, Event>,
  schema: string,
): string => {
  const apart = spec.columns.filter(({ isApart }) => isApart).map(ddlOf);
  const columns = spec.columns.filter(({ isApart }) => !isApart).map(ddlOf);
  const hashes = (spec.hashes ?? []).map(
    ({ name, of }) => `, ${name} bigint GENERATED ALWAYS AS (${hashOf(of)}) STORED`,
  );
  const recordedOn = spec.keepsRecordedOn ? ', recorded_on date' : '';
  return `CREATE TABLE ${schema}.${spec.table} (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL, revision integer NOT NULL${recordedOn}${spec.fromColumns ? '' : ', state text NOT NULL'}${hashes.join('')}${columns.join('')}${spec.status ? ', status_since timestamptz' : ''});
      ${apart.length > 0 ? `CREATE TABLE ${schema}.${apartOf(spec.table)} (id text COLLATE "C" PRIMARY KEY, revision integer NOT NULL${apart.join('')});` : ''}
      ${spec.indexes.map((index) => `CREATE INDEX ON ${schema}.${spec.table}${index.using ? ` USING ${index.using}` : ''} (${index.columns})${index.where ? ` WHERE ${index.where}` : ''};`).join('\n')}`;
};

/** Who writes the rows, and what of them is kept apart. */
const rowWriters = <State, Event extends Fact<string, unknown>>(
  { table, columns, fromColumns, status, keepsRecordedOn }: AggregateTable<State, Event>,
  schema: string,
): readonly RowWriter<TakenRow<State>>[] => {
  type Cells = readonly Cell<TakenRow<State>>[];
  const cellsOf = (isApart: boolean): Cells =>
    columns
      .filter((column) => (column.isApart ?? false) === isApart)
      .map(({ name, type, of }) => ({ name, type, of: ({ state }) => of(state) }));
  const key: Cells = [
    { name: 'id', type: 'text', of: (_, id) => id },
    { name: 'revision', type: 'integer', of: ({ revision }) => revision },
  ];
  const own: Cells = [
    ...key,
    { name: 'account_id', type: 'text', of: ({ account }) => account },
    { name: 'mode', type: 'text', of: ({ mode }) => mode },
    ...(keepsRecordedOn
      ? ([{ name: 'recorded_on', type: 'date', of: ({ recordedOn }) => recordedOn }] satisfies Cells)
      : []),
    ...(fromColumns
      ? []
      : ([{ name: 'state', type: 'text', of: ({ state }) => JSON.stringify(state) }] satisfies Cells)),
    ...cellsOf(false),
    ...(status
      ? ([{ name: 'status_since', type: 'timestamptz', of: ({ statusSince }) => statusSince }] satisfies Cells)
      : []),
  ];
  const apart = cellsOf(true);
  return [
    new RowWriter(`${schema}.${table}`, own),
    ...(apart.length > 0 ? [new RowWriter(`${schema}.${apartOf(table)}`, [...key, ...apart])] : []),
  ];
};

/** As it is written. */
interface TakenRow<State> extends AggregateRow<State> {
  /** The day of its last event, `yyyy-mm-dd`. */
  readonly recordedOn: string;
}

interface StoredRow extends ColumnValues {
  readonly id: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly revision: number;
  /** In milliseconds. Not selected where no status is kept. */
  readonly status_since: number | null;
}

class AggregateTableWriter<State, Event extends Fact<string, unknown>> implements ProjectionWriter {
  readonly #spec: AggregateTable<State, Event>;
  readonly #decider: Decider<State, Event>;
  readonly #derived: readonly ReturnType<DerivedTable<State, Event>['writer']>[];
  readonly #remembered = new LRUCache<string, AggregateRow<State>>({ max: REMEMBERED_ROWS });
  readonly #read: (row: ColumnValues) => State;
  readonly #select: string;
  readonly #writers: readonly RowWriter<TakenRow<State>>[];

  constructor(spec: AggregateTable<State, Event>, schema: string) {
    this.#spec = spec;
    this.#decider = spec.aggregate.decider;
    this.#derived = (spec.derived ?? []).map((one) => one.writer(schema));
    this.#writers = rowWriters(spec, schema);
    const { select, read } = storedState(spec);
    this.#read = read;
    const since = spec.status ? `, ${asMillis('t.status_since')} AS status_since` : '';
    this.#select = `SELECT ${select(schema, 't')}, t.revision${since} FROM ${schema}.${spec.table} t WHERE t.id = ANY($1::text[])`;
  }

  reset(): void {
    this.#remembered.clear();
    for (const writer of this.#derived) writer.reset();
  }

  async apply(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const rows = await this.#rowsBefore(events, tx);
    const changes: AggregateChange<State, Event>[] = [];
    const created = new Map<string, TakenRow<State>>();
    const changed = new Map<string, TakenRow<State>>();
    for (const logged of events) {
      const { subject, account, mode, revision, recordedAt } = logged;
      const event = logged.event as Fact<string, unknown> as Event;
      const before = rows.get(subject);
      if (before && before.revision >= revision) continue; // a repeat: rows never go backwards
      assertNext(logged, before?.revision ?? -1);
      const state = this.#decider.evolve(before?.state ?? this.#decider.initial, event);
      const recordedOn = recordedAt.slice(0, 10);
      const after = { account, mode, revision, recordedOn, state, ...this.#statusAfter(before, state, event) };
      rows.set(subject, after);
      (before === undefined || created.has(subject) ? created : changed).set(subject, after);
      changes.push({ subject, event, before, after });
    }
    for (const writer of this.#writers) {
      await writer.insert(created, tx);
      await writer.upsert(changed, tx);
    }
    for (const writer of this.#derived) if (changes.length > 0) await writer.apply(changes, tx);
    for (const [id, row] of rows) this.#remembered.set(id, row);
  }

  #statusAfter(before: AggregateRow<State> | undefined, state: State, event: Event) {
    const status = this.#spec.status?.of(state) ?? null;
    if (status === null || this.#spec.status === undefined) return { status: null, statusSince: null };
    return before?.status === status
      ? { status, statusSince: before.statusSince }
      : { status, statusSince: this.#spec.status.at(event) };
  }

  async #rowsBefore(events: readonly LoggedEvent[], tx: Sql): Promise<Map<string, AggregateRow<State>>> {
    const rows = new Map<string, AggregateRow<State>>();
    const seen = new Set<string>();
    const unknown: string[] = [];
    for (const { subject, revision } of events) {
      if (seen.has(subject)) continue;
      seen.add(subject);
      const row = this.#remembered.get(subject);
      if (row) rows.set(subject, row);
      else if (revision > 0) unknown.push(subject); // a stream that begins in this batch has no row yet
    }
    if (unknown.length === 0) return rows;
    const found = await tx.query<StoredRow>(this.#select, [unknown]);
    for (const row of found.rows) {
      const { id, account_id: account, mode, revision, status_since: since } = row;
      const state = this.#read(row);
      const status = this.#spec.status?.of(state) ?? null;
      rows.set(id, { account, mode, revision, state, status, statusSince: since == null ? null : fromMillis(since) });
    }
    return rows;
  }
}
