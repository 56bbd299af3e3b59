// Fills an empty database from a dump of this release or an earlier one. The schema is first migrated to the dump's version, so that later
// migrations find its data. Read models are left out: the next start builds them.
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { UsageError } from '../cli/command.ts';
import { sqlStateOf } from '../eventStore/postgres/session.ts';
import { installTables } from '../jobs/installation.ts';
import { MIGRATIONS, migrate } from '../postgres/migrate.ts';
import { connectionConfig, PgPool } from '../postgres/session.ts';
import { DUMP_FORMAT, type DumpHead, type DumpReport, type TableHead } from './dump.ts';
import { type CopiedTable, copiedTables } from './tables.ts';

const ROWS_AT_ONCE = 500;

/** Yields the lines of a dump. Texts in them may have other line separators, such as U+2028, at which node:readline would split. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const unzipped = createGunzip();
  source.on('error', (error) => unzipped.destroy(error));
  let line: string[] = [];
  for await (const chunk of source.pipe(unzipped).setEncoding('utf8')) {
    const [end = '', ...starts] = (chunk as string).split('\n');
    line.push(end);
    for (const start of starts) {
      yield line.join('');
      line = [start];
    }
  }
  const rest = line.join('');
  if (rest !== '') yield rest;
}

class Dump {
  readonly #file: string;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string) {
    this.#file = file;
    this.#lines = linesOf(file);
  }
  /** Returns the next line, or throws UsageError. */
  async next(): Promise<string> {
    const line = await this.#read();
    if (line === null) throw this.damaged('it ends too early');
    return line;
  }
  /** Reads the end of the file, where its checksum is. Throws UsageError if the checksum is wrong or another line follows. */
  async end(): Promise<void> {
    if ((await this.#read()) !== null) throw this.damaged('it goes on after its last line');
  }
  damaged(why: string): UsageError {
    return new UsageError(`${this.#file} is no complete dump: ${why}`);
  }
  /** Returns null at the end of the file. */
  async #read(): Promise<string | null> {
    const { value, done } = await this.#lines.next().catch((error: Error) => {
      throw this.damaged(error.message);
    });
    return done ? null : (value as string);
  }
  /** Reads a line as JSON. Throws UsageError if it is not. */
  parsed<Value>(line: string): Value {
    try {
      return JSON.parse(line) as Value;
    } catch {
      throw this.damaged('it has a line that is not JSON');
    }
  }
  async head(): Promise<DumpHead> {
    const head = this.parsed<DumpHead | null>(await this.next());
    if (typeof head?.format !== 'number' || !Array.isArray(head.migrations))
      throw new UsageError(`${this.#file} is no dump of Quita`);
    if (!(head.format <= DUMP_FORMAT)) throw this.damaged('a newer release wrote it');
    const unknown = head.migrations.filter((name) => !MIGRATIONS.includes(name));
    if (unknown.length > 0)
      throw new UsageError(
        `${this.#file} was written by a newer release (${unknown.join(', ')}): restore it with that release`,
      );
    return head;
  }
}

/** Loads the rows of one table. Columns that the table no longer has are left out. Returns their number. */
const loadTable = async (tx: Sql, source: Dump, start: TableHead, table: CopiedTable | undefined): Promise<number> => {
  const known = start.columns.flatMap((name, index) => {
    const column = table?.columns.find((one) => one.name === name);
    return column === undefined ? [] : [{ ...column, index }];
  });
  const insert =
    table &&
    `INSERT INTO ${table.name} (${known.map(({ name }) => name)}) OVERRIDING SYSTEM VALUE
      SELECT ${known.map(({ index, type }) => `(line::json->>${index})::${type}`)} FROM unnest($1::text[]) AS line`;
  if (table) await tx.query(`DELETE FROM ${table.name}`); // rows that migrations wrote
  let waiting: string[] = [];
  let rows = 0;
  const flush = async () => {
    if (insert && waiting.length > 0)
      await tx.query(insert, [waiting]).catch((error: Error) => {
        // A value was rejected (SQLSTATE class 22) or violates a constraint (23).
        const isRowsFault = /^2[23]/.test(sqlStateOf(error) ?? '');
        throw isRowsFault ? source.damaged(`table ${start.table} rejects a row: ${error.message}`) : error;
      });
    waiting = [];
  };
  for (;;) {
    const line = await source.next();
    if (!line.startsWith('[')) {
      await flush();
      const { rows: expected } = source.parsed<{ rows: number }>(line);
      if (expected !== rows) throw new UsageError(`${start.table} has ${rows} rows in the dump instead of ${expected}`);
      return rows;
    }
    rows += 1;
    waiting.push(line);
    if (waiting.length === ROWS_AT_ONCE) await flush();
  }
};

const SEQUENCES = `SELECT a.attname AS column, pg_get_serial_sequence($1, a.attname) AS sequence FROM pg_attribute a
  WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND pg_get_serial_sequence($1, a.attname) IS NOT NULL`;

/** Continues numbers after those of the rows. */
const continueSequences = async (tx: Sql, { name }: CopiedTable): Promise<void> => {
  const { rows } = await tx.query<{ column: string; sequence: string }>(SEQUENCES, [name]);
  for (const { column, sequence } of rows)
    await tx.query(
      `SELECT setval($1, greatest(m, 1), m IS NOT NULL) FROM (SELECT max(${column}) AS m FROM ${name}) AS newest`,
      [sequence],
    );
};

/** Triggers would count and check the rows again. */
const WITHOUT_TRIGGERS = (tables: readonly CopiedTable[], verb: 'DISABLE' | 'ENABLE'): string =>
  tables.map(({ name }) => `ALTER TABLE ${name} ${verb} TRIGGER USER`).join('; ');

const load = async (db: SqlPool, source: Dump): Promise<DumpReport> =>
  db.transaction(async (tx) => {
    await tx.query(`SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC'; SET LOCAL statement_timeout = 0`);
    const tables = await copiedTables(tx);
    await tx.query(WITHOUT_TRIGGERS(tables, 'DISABLE'));
    const report = { tables: 0, rows: 0 };
    for (;;) {
      const start = source.parsed<TableHead | { readonly tables: number }>(await source.next());
      if ('tables' in start) {
        if (start.tables !== report.tables) throw new UsageError('tables are missing in the dump');
        await source.end();
        break;
      }
      const table = tables.find(({ name }) => name === start.table);
      report.rows += await loadTable(tx, source, start, table);
      report.tables += 1;
    }
    for (const table of tables) await continueSequences(tx, table);
    await tx.query(WITHOUT_TRIGGERS(tables, 'ENABLE'));
    // The tables of read models are missing, so they start anew. Processes continue at their positions.
    await tx.query(`DELETE FROM subscriptions.checkpoints WHERE name NOT LIKE 'process/%'`);
    await tx.query(`DELETE FROM subscriptions.parked_streams WHERE consumer NOT LIKE 'process/%'`);
    return report;
  });

const IS_USED = `SELECT EXISTS (SELECT FROM event_store.events) OR EXISTS (SELECT FROM subscriptions.checkpoints) AS used`;

/** Fills the database. Throws UsageError if it has data, or if the file is not a complete dump; nothing is loaded then. */
export const restore = async (connectionString: string, file: string): Promise<DumpReport> => {
  const source = new Dump(file);
  const { migrations } = await source.head();
  const db = new PgPool(connectionConfig(connectionString, 'quita restore'), 2, () => undefined);
  try {
    const { rows: found } = await db.query<{ there: boolean }>(
      `SELECT to_regclass('event_store.events') IS NOT NULL AND to_regclass('subscriptions.checkpoints') IS NOT NULL AS there`,
    );
    if (found[0]?.there && (await db.query<{ used: boolean }>(IS_USED)).rows[0]?.used)
      throw new UsageError('the database has data: restore into an empty one');
    await migrate(connectionString, migrations);
    await installTables(db);
    const report = await load(db, source);
    await migrate(connectionString);
    return report;
  } finally {
    await db.close();
  }
};
