// The tables that a dump of the database holds: everything but read models, which are rebuilt, and data of the moment.
import type { Sql } from '../../application/ports/sql.ts';
import { JOBS_SCHEMA } from '../jobs/schema.ts';

/** Schemas of facts and of operational data. */
export const COPIED_SCHEMAS: readonly string[] = [
  ...['event_store', 'subscriptions', 'operations', 'sandbox_bank', 'audit', 'privacy'],
  JOBS_SCHEMA,
];

/** Tables that aren't copied: logs of requests, traces of running processes, and pg-boss's data besides queues and jobs. */
const LEFT_OUT: readonly string[] = ['operations.request_log', 'operations.access_leases', 'subscriptions.leaderships'];
const COPIED_OF_JOBS: readonly string[] = [`${JOBS_SCHEMA}.queue`, `${JOBS_SCHEMA}.job`];

export interface CopiedTable {
  /** With its schema. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Tables that its rows refer to. */
  readonly parents: readonly string[];
}

const TABLES = `SELECT format('%I.%I', n.nspname, c.relname) AS name,
    (SELECT json_agg(json_build_object('name', format('%I', a.attname), 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    array(SELECT DISTINCT format('%I.%I', pn.nspname, p.relname) FROM pg_constraint f
      JOIN pg_class p ON p.oid = f.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND p.oid <> c.oid) AS parents
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY ($1::text[]) ORDER BY 1`;

const isCopied = (name: string): boolean =>
  name.startsWith(`${JOBS_SCHEMA}.`) ? COPIED_OF_JOBS.includes(name) : !LEFT_OUT.includes(name);

/** Returns the tables, each after those that its rows refer to. */
export const copiedTables = async (db: Sql): Promise<readonly CopiedTable[]> => {
  const { rows } = await db.query<CopiedTable>(TABLES, [COPIED_SCHEMAS]);
  const byName = new Map(rows.filter(({ name }) => isCopied(name)).map((table) => [table.name, table]));
  const ordered = new Set<CopiedTable>();
  const add = (table: CopiedTable): void => {
    for (const parent of table.parents) if (byName.has(parent)) add(byName.get(parent) as CopiedTable);
    ordered.add(table);
  };
  for (const table of byName.values()) add(table);
  return [...ordered];
};
