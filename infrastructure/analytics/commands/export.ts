// `analytics export`: writes a view for analysts to a file, page by page (rule N5).
import { asTimestamp, type Sql } from '../../../application/ports/sql.ts';
import { isCivilDay } from '../../../domain/kernel/civilDay.ts';
import type { AnalystView } from '../../../projections/analytics/view.ts';
import { ANALYST_VIEWS, PROJECTIONS } from '../../../projections/registry.ts';
import { type CliCommand, type CliInput, existingAccountOf, UsageError } from '../../cli/command.ts';
import { writeOutput } from '../../cli/outputFile.ts';
import { csvFile } from './exportFiles/csvFile.ts';
import type { ExportFile, OpenExportFile } from './exportFiles/exportFile.ts';
import { parquetFile } from './exportFiles/parquetFile.ts';

const FORMATS: { readonly [format: string]: OpenExportFile } = { csv: csvFile, parquet: parquetFile };
const NAMES = ANALYST_VIEWS.map(({ name }) => name);
const PAGE = 2_000;

/** Returns SQL for the column's text, as files have it: instants in UTC, numbers exact. */
const textOf = ({ name, type }: AnalystView['columns'][number]): string =>
  type === 'timestamptz' ? `${asTimestamp(name)} AS ${name}` : `${name}::text AS ${name}`;

interface Wanted {
  readonly accountId: string | null;
  /** The first and the last civil day; null: no bound. */
  readonly from: string | null;
  readonly to: string | null;
}

/** Reads the rows through a cursor, of one snapshot, and returns their number. The caller's transaction is open. */
const copyRows = async (
  tx: Sql,
  view: AnalystView,
  { accountId, from, to }: Wanted,
  file: ExportFile,
  signal: AbortSignal,
): Promise<number> => {
  await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await tx.query(
    `DECLARE exported NO SCROLL CURSOR FOR SELECT ${view.columns.map(textOf)} FROM analytics.${view.name}
      WHERE ($1::text IS NULL OR account_id = $1) AND ($2::date IS NULL OR ${view.day} >= $2) AND ($3::date IS NULL OR ${view.day} <= $3)`,
    [accountId, from, to],
  );
  for (let count = 0; ; ) {
    signal.throwIfAborted();
    const { rows } = await tx.query<{ [column: string]: string | null }>(`FETCH ${PAGE} FROM exported`);
    await file.write(rows);
    count += rows.length;
    if (rows.length < PAGE) return count;
  }
};

const dayOf = (options: CliInput['options'], name: 'from' | 'to'): string | null => {
  const day = options[name];
  if (day === undefined) return null;
  if (!isCivilDay(String(day))) throw new UsageError(`--${name} must be a day like 2026-03-31`);
  return String(day);
};

export const exportCommand: CliCommand = {
  name: 'analytics export',
  summary: `Write a view for analysts to a file (${NAMES.join(', ')})`,
  options: {
    table: { description: 'the view', required: true, choices: NAMES },
    from: { description: 'first day, a civil day of São Paulo such as 2026-03-01; all days if omitted' },
    to: { description: 'last day, inclusive' },
    format: { description: 'csv or parquet', required: true, choices: Object.keys(FORMATS) },
    account: { description: 'only the rows of this account' },
    out: { description: 'the file; an existing one is replaced when the export is complete', required: true },
  },
  reads: PROJECTIONS.flatMap((one) => ('published' in one ? [one.name] : [])),
  run: async (world, { options }) => {
    const view = ANALYST_VIEWS.find(({ name }) => name === options['table']) as AnalystView;
    const open = FORMATS[String(options['format'])] as OpenExportFile;
    const out = String(options['out']);
    const accountId =
      options['account'] === undefined ? null : await existingAccountOf(world, String(options['account']));
    const wanted = { accountId, from: dayOf(options, 'from'), to: dayOf(options, 'to') };
    if (wanted.from !== null && wanted.to !== null && wanted.to < wanted.from)
      throw new UsageError('--to must not be before --from');
    const session = await world.storage.openSession('analytics export');
    try {
      const rows = await writeOutput(out, async (draft) => {
        const file = await open(draft, view.columns);
        try {
          const count = await session.transaction((tx) => copyRows(tx, view, wanted, file, world.signal));
          await file.close();
          return count;
        } catch (error) {
          await file.close().catch(() => undefined); // the error above is the cause
          throw error;
        }
      });
      return { json: { table: view.name, rows, out }, text: `${rows} rows of ${view.name} in ${out}` };
    } finally {
      await session.close();
    }
  },
};
