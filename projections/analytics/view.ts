// Describes a view for analysts as data: its source, and its columns with types and comments. The statements that create it, the export and
// the documents derive from it. Every row has an account and a mode, and each analyst sees only the accounts of its grant.
import { CURRENCY_DECIMALS } from '../../domain/charge/methods.ts';
import { NOT_EXECUTED } from '../../domain/kernel/enteredOutcome.ts';
import { ERASED } from '../../domain/kernel/serde.ts';

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
  /** Tables, or selects in parentheses, that together hold the rows `t`, with the columns `account_id` and `mode`. */
  readonly rows: readonly string[];
  /** Further items of FROM, after the rows. Default: none. */
  readonly joins?: string;
  /** The condition of the rows shown. Default: all. */
  readonly where?: string;
  readonly columns: readonly AnalystColumn[];
  /** The `date` column by which rows are exported. */
  readonly day: string;
}

export const SCHEMA = 'analytics';

// --- Columns that views share ---

export const column = (name: string, type: ColumnType, comment: string, sql: string): AnalystColumn => ({
  name,
  type,
  sql,
  comment,
});

/** Columns of every view: the owner of the row. */
export const OWNER: readonly AnalystColumn[] = [
  column('account_id', 'text', 'Account, without the prefix acct_.', 't.account_id'),
  column('mode', 'text', 'live, or test for the sandbox.', 't.mode'),
];

/** Returns SQL for the civil day of São Paulo. */
const dayOf = (instant: string): string => `(${instant} AT TIME ZONE 'America/Sao_Paulo')::date`;

/** Columns `<name>_at` and `<name>_day`. `day`: a column that holds the day. */
export const instant = (name: string, what: string, sql: string, day = dayOf(sql)): readonly AnalystColumn[] => [
  column(`${name}_at`, 'timestamptz', `${what} (UTC instant).`, sql),
  column(`${name}_day`, 'date', `${what}: civil day of São Paulo.`, day),
];

/** Returns SQL for the kind of a failure. The reason itself is a bank's free text, which may name a person. */
export const failureKind = (reason: string): string =>
  `CASE ${reason} WHEN '${ERASED}' THEN NULL WHEN '${NOT_EXECUTED}' THEN '${NOT_EXECUTED}' ELSE 'refused' END`;

const DECIMALS_DEFAULT = 2;
/** Returns SQL for an amount in units of its currency, exact. A product with `0.01` has two decimals. */
const unitsOf = (minor: string, currency: string): string => {
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

/**
 * One branch is for analysts of all accounts and one for those of a single account; only one of them runs. With one condition for both, the
 * planner could not use the index by account. The branches are plain rows, so that columns that a query doesn't read are not computed.
 */
const CALLER = 'analytics_access.caller c';
const branchesOf = (rows: string): readonly string[] => [
  `SELECT r.* FROM ${rows} r WHERE (SELECT c.sees_all FROM ${CALLER})`,
  `SELECT r.* FROM ${rows} r WHERE (SELECT NOT c.sees_all FROM ${CALLER}) AND r.account_id = (SELECT c.account_id FROM ${CALLER})`,
];

/** With the security barrier, no function in a query sees a row before the view's own condition has accepted it. */
const statementsOf = ({ name: view, rows, joins = '', where = 'true', columns, comment }: AnalystView): string => {
  const name = `${SCHEMA}.${view}`;
  const selected = columns.map((one) => `(${one.sql})::${one.type} AS ${one.name}`);
  const comments = columns.map((one) => `COMMENT ON COLUMN ${name}.${one.name} IS ${quoted(one.comment)};`);
  return `DROP VIEW IF EXISTS ${name};
    CREATE VIEW ${name} WITH (security_barrier) AS
      SELECT ${selected} FROM (${rows.flatMap(branchesOf).join('\nUNION ALL\n')}) t ${joins} WHERE ${where};
    COMMENT ON VIEW ${name} IS ${quoted(comment)};
    ${comments.join('\n')}`;
};

export const createViews = (views: readonly AnalystView[]): string => views.map(statementsOf).join('\n');
