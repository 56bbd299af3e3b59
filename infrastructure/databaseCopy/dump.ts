// Writes the database to one compressed file that any later release can restore, whatever its version of PostgreSQL. One line is a JSON
// text: first the head, then for each table its name and columns, its rows with every value as PostgreSQL's text, and their number.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Sql } from '../../application/ports/sql.ts';
import { writeOutput } from '../cli/outputFile.ts';
import { type CopiedTable, copiedTables } from './tables.ts';

/** Version of the file's format. Later releases read every format. */
export const DUMP_FORMAT = 1;
const ROWS_AT_ONCE = 500;

export interface DumpHead {
  readonly format: number;
  readonly migrations: readonly string[];
}
export interface TableHead {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface DumpReport {
  readonly tables: number;
  readonly rows: number;
}

async function* rowsOf(tx: Sql, { name, columns }: CopiedTable): AsyncGenerator<string> {
  const values = columns.map((column) => `${column.name}::text`).join(', ');
  // The order of the physical rows is that of their insertion, as far as it matters.
  await tx.query(`DECLARE dumped NO SCROLL CURSOR FOR SELECT json_build_array(${values})::text AS line FROM ${name}`);
  for (;;) {
    const { rows } = await tx.query<{ line: string }>(`FETCH ${ROWS_AT_ONCE} FROM dumped`);
    for (const { line } of rows) yield line;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await tx.query('CLOSE dumped');
}

async function* linesOf(tx: Sql, report: { tables: number; rows: number }): AsyncGenerator<string> {
  // Texts of times, intervals and bytes don't depend on the settings of the server.
  await tx.query(
    `SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'; SET LOCAL timezone = 'UTC'`,
  );
  const { rows: done } = await tx.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  const head: DumpHead = { format: DUMP_FORMAT, migrations: done.map(({ name }) => name) };
  yield `${JSON.stringify(head)}\n`;
  for (const table of await copiedTables(tx)) {
    const start: TableHead = { table: table.name, columns: table.columns.map(({ name }) => name) };
    yield `${JSON.stringify(start)}\n`;
    let rows = 0;
    for await (const line of rowsOf(tx, table)) {
      yield `${line}\n`;
      rows += 1;
    }
    yield `${JSON.stringify({ rows })}\n`;
    report.tables += 1;
    report.rows += rows;
  }
  yield `${JSON.stringify({ tables: report.tables })}\n`;
}

/** Writes the file, as of one moment, while the program may run. An existing file is replaced when the new one is complete. */
export const dump = async (
  db: { transaction<T>(work: (tx: Sql) => Promise<T>, begin?: string): Promise<T> },
  file: string,
): Promise<DumpReport> => {
  const report = { tables: 0, rows: 0 };
  await writeOutput(file, (draft) =>
    db.transaction(
      (tx) =>
        pipeline(
          Readable.from(linesOf(tx, report)),
          createGzip({ level: 9 }),
          createWriteStream(draft, { flags: 'wx', mode: 0o600 }),
        ),
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    ),
  );
  return report;
};
