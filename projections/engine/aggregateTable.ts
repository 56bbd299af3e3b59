// The usual read model: one row per stream, holding the fold of the stream by its decider and the columns one searches by. What else
// follows from the same fold (counters, a narrow table for lists) is kept beside it, in the same batch, without a second fold.
import { LRUCache } from 'lru-cache';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { EventOf } from '../../domain/events.ts';
import type { Decider } from '../../domain/kernel/decider.ts';
import type { Category } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Projection, ProjectionTable, ProjectionWriter } from './projection.ts';

/** A searchable column: its type is `text`, `bigint`, `integer` or `timestamptz`. */
export interface Column<State> {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'integer' | 'timestamptz';
  readonly of: (state: State) => string | number | null;
}

export interface AggregateTable<C extends Category, State> {
  readonly name: string;
  readonly version: number;
  readonly category: C;
  readonly decider: Decider<State, EventOf[C]>;
  readonly table: string;
  readonly columns: readonly Column<State>[];
  /** `columns` is a column list, with `account_id` and `mode` available; `where` makes the index partial. */
  readonly indexes: readonly { readonly columns: string; readonly where?: string }[];
  /** A status that the state has, and when it became that: the date is kept in the column `status_since`. */
  readonly status?: { readonly of: (state: State) => string | null; readonly at: (event: EventOf[C]) => Timestamp };
  readonly derived?: readonly DerivedTable<C, State>[];
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
export interface AggregateChange<C extends Category, State> {
  readonly subject: string;
  readonly event: EventOf[C];
  readonly before: AggregateRow<State> | undefined;
  readonly after: AggregateRow<State>;
}

/** Tables of the same projection that follow from the same steps. */
export interface DerivedTable<C extends Category, State> {
  readonly tables: readonly ProjectionTable[];
  ddl(schema: string): string;
  writer(schema: string): {
    reset(): void;
    /** Steps in log order, each once. */
    apply(changes: readonly AggregateChange<C, State>[], tx: Sql): Promise<void>;
  };
}

/** Rows remembered between batches, so that an event on a recent stream needs no read. */
const REMEMBERED_ROWS = 20_000;

const FIXED = ['id', 'account_id', 'mode', 'revision', 'state'] as const;
const FIXED_TYPES = ['text', 'text', 'text', 'integer', 'text'] as const;

export const aggregateTable = <C extends Category, State>(spec: AggregateTable<C, State>): Projection => {
  const beside = spec.derived ?? [];
  return {
    name: spec.name,
    version: spec.version,
    categories: [spec.category],
    aggregates: [
      { table: spec.table, category: spec.category, decider: spec.decider as unknown as Decider<unknown, unknown> },
    ],
    tables: [{ name: spec.table, key: ['id'] }, ...beside.flatMap(({ tables }) => tables)],
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

const ownDdl = <C extends Category, State>(spec: AggregateTable<C, State>, schema: string): string => {
  const columns = spec.columns
    .map(({ name, type }) => `, ${name} ${type}${type === 'text' ? ' COLLATE "C"' : ''}`)
    .join('');
  return `CREATE TABLE ${schema}.${spec.table} (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL, revision integer NOT NULL, state text NOT NULL${columns}${spec.status ? ', status_since text COLLATE "C"' : ''});
      ${spec.indexes.map((index) => `CREATE INDEX ON ${schema}.${spec.table} (${index.columns})${index.where ? ` WHERE ${index.where}` : ''};`).join('\n')}`;
};

class AggregateTableWriter<C extends Category, State> implements ProjectionWriter {
  readonly #spec: AggregateTable<C, State>;
  readonly #derived: readonly ReturnType<DerivedTable<C, State>['writer']>[];
  readonly #remembered = new LRUCache<string, AggregateRow<State>>({ max: REMEMBERED_ROWS });
  readonly #select: string;
  readonly #insert: { name: string; text: string };
  readonly #upsert: { name: string; text: string };

  constructor(spec: AggregateTable<C, State>, schema: string) {
    this.#spec = spec;
    this.#derived = (spec.derived ?? []).map((one) => one.writer(schema));
    const table = `${schema}.${spec.table}`;
    const names = [...FIXED, ...spec.columns.map(({ name }) => name), ...(spec.status ? ['status_since'] : [])];
    const types = [...FIXED_TYPES, ...spec.columns.map(({ type }) => type), ...(spec.status ? ['text'] : [])];
    const changing = names.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);
    this.#select = `SELECT id, account_id AS account, mode, revision, state${spec.status ? ', status_since AS "statusSince"' : ''} FROM ${table}
      WHERE id = ANY($1::text[])`;
    // In the target list, because FROM would store every column in a set of its own first.
    const insert = `INSERT INTO ${table} AS t (${names}) SELECT ${types.map((type, i) => `unnest($${i + 1}::text[])::${type}`)}`;
    this.#insert = { name: `insert_${table}`, text: insert };
    this.#upsert = {
      name: `upsert_${table}`,
      text: `${insert} ON CONFLICT (id) DO UPDATE SET ${changing} WHERE t.revision < excluded.revision`,
    };
  }

  reset(): void {
    this.#remembered.clear();
    for (const writer of this.#derived) writer.reset();
  }

  async apply(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const rows = await this.#rowsBefore(events, tx);
    const changes: AggregateChange<C, State>[] = [];
    const created = new Map<string, AggregateRow<State>>();
    const changed = new Map<string, AggregateRow<State>>();
    for (const logged of events as readonly LoggedEvent<C>[]) {
      const { subject, account, mode, revision, event } = logged;
      const before = rows.get(subject);
      if (before && before.revision >= revision) continue; // a repeat: rows never go backwards
      assertNext(logged, before?.revision ?? -1);
      const state = this.#spec.decider.evolve(before?.state ?? this.#spec.decider.initial, event);
      const after = { account, mode, revision, state, ...this.#statusAfter(before, state, event) };
      rows.set(subject, after);
      (before === undefined || created.has(subject) ? created : changed).set(subject, after);
      changes.push({ subject, event, before, after });
    }
    await this.#write(this.#insert, created, tx);
    await this.#write(this.#upsert, changed, tx);
    for (const writer of this.#derived) if (changes.length > 0) await writer.apply(changes, tx);
    for (const [id, row] of rows) this.#remembered.set(id, row);
  }

  #statusAfter(before: AggregateRow<State> | undefined, state: State, event: EventOf[C]) {
    const status = this.#spec.status?.of(state) ?? null;
    if (status === null || this.#spec.status === undefined) return { status: null, statusSince: null };
    return before?.status === status
      ? { status, statusSince: before.statusSince }
      : { status, statusSince: this.#spec.status.at(event) };
  }

  async #write(
    statement: { name: string; text: string },
    rows: ReadonlyMap<string, AggregateRow<State>>,
    tx: Sql,
  ): Promise<void> {
    if (rows.size === 0) return;
    const list = [...rows.values()];
    const values = [
      new TextArray([...rows.keys()]),
      new TextArray(list.map((row) => row.account)),
      new TextArray(list.map((row) => row.mode)),
      new TextArray(list.map((row) => String(row.revision))),
      new TextArray(list.map((row) => JSON.stringify(row.state))),
      ...this.#spec.columns.map(({ of }) => new TextArray(list.map((row) => of(row.state)?.toString() ?? null))),
      ...(this.#spec.status ? [new TextArray(list.map((row) => row.statusSince))] : []),
    ];
    await tx.query({ ...statement, values });
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
    type Stored = Omit<AggregateRow<State>, 'state' | 'status'> & { readonly id: string; readonly state: string };
    const found = await tx.query<Stored>(this.#select, [unknown]);
    for (const { id, state: text, account, mode, revision, statusSince } of found.rows) {
      const state = JSON.parse(text) as State;
      const status = this.#spec.status?.of(state) ?? null;
      rows.set(id, { account, mode, revision, state, status, statusSince: statusSince ?? null });
    }
    return rows;
  }
}
