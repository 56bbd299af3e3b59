// Finds the tenants that have rows in a table. Its index that begins with account and mode is entered once for each tenant, however many
// rows each has.
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';

const tenantsQuery = (table: string): string => {
  const firstBeyond = (account: string, mode: string): string =>
    `SELECT r.account_id, r.mode FROM ${table} r WHERE (r.account_id, r.mode) > (${account}, ${mode})
     ORDER BY r.account_id, r.mode LIMIT 1`;
  return `WITH RECURSIVE t AS (
      (${firstBeyond('$1', '$2')})
      UNION ALL SELECT n.account_id, n.mode FROM t CROSS JOIN LATERAL (${firstBeyond('t.account_id', 't.mode')}) n)
    SELECT t.account_id AS "accountId", t.mode FROM t LIMIT $3`;
};

const readTenants = (db: Sql, table: string, after: Tenant | null, limit: number) =>
  db.query<Tenant>(tenantsQuery(table), [after?.accountId ?? '', after?.mode ?? '', limit]);

/** Returns up to `limit` tenants with rows, in the order of account and mode, after `after`. */
export const tenantsAfter = async (
  db: Sql,
  table: string,
  after: Tenant | null,
  limit: number,
): Promise<readonly Tenant[]> => (await readTenants(db, table, after, limit)).rows;

const PAGE = 1_000;

/** Yields all tenants with rows after `after`, in the order of account and mode. */
export async function* allTenants(db: Sql, table: string, after: Tenant | null = null): AsyncGenerator<Tenant, void> {
  const pageAfter = (last: Tenant | null) => readTenants(db, table, last ?? after, PAGE);
  for await (const page of pagesOf(PAGE, pageAfter, (rows) => rows)) yield* page;
}
