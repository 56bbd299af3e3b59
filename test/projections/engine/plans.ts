// Runs statements with EXPLAIN ANALYZE and returns the nodes of their plans.
import type { Sql, SqlPool } from '../../../application/ports/sql.ts';

export interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}
export const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Returns all plan nodes of the statements that `work` sends. Each statement also returns its rows to `work`. */
export const plansOf = async (to: Sql, work: (db: SqlPool) => Promise<unknown>): Promise<readonly Plan[]> => {
  const nodes: Plan[] = [];
  const db: SqlPool = {
    query: async (statement, values) => {
      const { text, values: own } = typeof statement === 'string' ? { text: statement, values } : statement;
      const explain = `EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ${text}`;
      const { rows } = await to.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explain, own ?? []);
      nodes.push(...nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan as Plan));
      return to.query(text, own ?? []);
    },
    transaction: (read) => read({ ...db, onEnd: () => undefined }),
  };
  await work(db);
  return nodes;
};

/** Returns the number of rows that were read from tables and indexes. */
export const rowsRead = (nodes: readonly Plan[]): number =>
  nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) =>
        sum + ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      0,
    );
