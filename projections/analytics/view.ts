// Describes a view for analysts as data: its source, and its columns with types and comments. The statements that create it, the export and
// the documents derive from it. Every row has an account and a mode, and each analyst sees only the accounts of its grant.
import { CURRENCY_DECIMALS } from '../../domain/charge/methods.ts';

type ColumnType = 'text' | 'bigint' | 'integer' | 'numeric' | 'date' | 'timestamptz' | 'boolean';

export interface AnalystColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** An expression over the view's source. */
  readonly sql: string;
  readonly comment: string;
}

export interface AnalystView {
  readonly name: string;
  readonly comment: string;
  /** The sources, which together hold the view's rows. */
  readonly sources: readonly Source[];
  readonly columns: readonly Omit<AnalystColumn, 'sql'>[];
  /** The `date` column by which rows are exported. */
  readonly day: string;
}

/** One source of a view. `sql` has the expression of each column, in the order of the view's columns. */
interface Source {
  /** The table `t`, which has the columns `account_id` and `mode`, and possibly joins. */
  readonly from: string;
  /** Default: all rows. */
  readonly where?: string;
  readonly sql: readonly string[];
}

export const SCHEMA = 'analytics';

/** Returns a view with one source. */
export const analystView = (
  declared: Omit<AnalystView, 'sources' | 'columns'> &
    Omit<Source, 'sql'> & { readonly columns: readonly AnalystColumn[] },
): AnalystView => {
  const { from, where, columns, ...view } = declared;
  const sql = columns.map((column) => column.sql);
  return { ...view, columns, sources: [{ from, sql, ...(where !== undefined && { where }) }] };
};

/** Returns the view with the rows of another source, whose expressions are named by column. */
export const withSource = (
  view: AnalystView,
  { sql, ...source }: Omit<Source, 'sql'> & { readonly sql: { readonly [column: string]: string } },
): AnalystView => ({
  ...view,
  sources: [...view.sources, { ...source, sql: view.columns.map(({ name }) => sql[name] ?? 'NULL') }],
});

// --- Columns that views share ---

export const column = (name: string, type: ColumnType, comment: string, sql: string): AnalystColumn => ({
  name,
  type,
  sql,
  comment,
});

/** Columns of every view: whose row it is. */
export const OWNER: readonly AnalystColumn[] = [
  column('account_id', 'text', 'Account, without the prefix acct_.', 't.account_id'),
  column('mode', 'text', 'live, or test for the sandbox.', 't.mode'),
];

/** Returns SQL for the civil day of São Paulo. */
export const dayOf = (instant: string): string => `(${instant} AT TIME ZONE 'America/Sao_Paulo')::date`;

/** Columns `<name>_at` and `<name>_day`. */
export const instant = (name: string, what: string, sql: string): readonly AnalystColumn[] => [
  column(`${name}_at`, 'timestamptz', `${what} (UTC instant).`, sql),
  column(`${name}_day`, 'date', `${what}: civil day of São Paulo.`, dayOf(sql)),
];

const DECIMALS_DEFAULT = 2;
/** Returns SQL for an amount in units of its currency, exact. A product with `0.01` has two decimals. */
export const unitsOf = (minor: string, currency: string): string => {
  const others = Object.entries(CURRENCY_DECIMALS).filter(([, decimals]) => decimals !== DECIMALS_DEFAULT);
  const cases = others.map(
    ([code, decimals]) => `WHEN '${code}' THEN ${minor} * ${(10 ** -decimals).toFixed(decimals)}`,
  );
  return `CASE ${currency} ${cases.join(' ')} ELSE ${minor} * ${(10 ** -DECIMALS_DEFAULT).toFixed(DECIMALS_DEFAULT)} END`;
};

/** Columns `<name>_minor` and `<name>`. */
export const money = (name: string, what: string, minor: string, currency: string): readonly AnalystColumn[] => [
  column(`${name}_minor`, 'bigint', `${what}, in minor units, such as centavos.`, minor),
  column(name, 'numeric', `${what}, in units of the currency.`, unitsOf(minor, currency)),
];

// --- Statements ---

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const CALLER = 'analytics_access.caller';
/**
 * One branch for analysts of all accounts and one for those of a single account, of which the other never runs. With one condition for
 * both, the planner could not use the index by account.
 */
const OWN_ROWS = [
  `(SELECT c.sees_all FROM ${CALLER} c)`,
  `t.account_id = (SELECT c.account_id FROM ${CALLER} c WHERE NOT c.sees_all)`,
];

const selectOf = ({ columns }: AnalystView, { from, where, sql }: Source, isOwn: string): string =>
  `SELECT ${sql.map((one, n) => `(${one})::${columns[n]?.type} AS ${columns[n]?.name}`)}
   FROM ${from} WHERE ${isOwn}${where === undefined ? '' : ` AND ${where}`}`;

/** As a security barrier, no function of a query sees a row before the view's own condition has accepted it. */
const statementsOf = (view: AnalystView): string => {
  const name = `${SCHEMA}.${view.name}`;
  const selects = view.sources.flatMap((source) => OWN_ROWS.map((isOwn) => selectOf(view, source, isOwn)));
  const comments = view.columns.map((one) => `COMMENT ON COLUMN ${name}.${one.name} IS ${quoted(one.comment)};`);
  return `DROP VIEW IF EXISTS ${name};
    CREATE VIEW ${name} WITH (security_barrier) AS ${selects.join('\nUNION ALL\n')};
    COMMENT ON VIEW ${name} IS ${quoted(view.comment)};
    ${comments.join('\n')}`;
};

export const createViews = (views: readonly AnalystView[]): string => views.map(statementsOf).join('\n');
