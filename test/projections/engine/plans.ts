// What the statements of a read cost: the nodes of their plans, run.
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

/** Returns every node of the plans of all statements that `work` sends, run. What it reads is answered. */
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

/** Counts the rows that were looked at in tables and indexes. */
export const rowsRead = (nodes: readonly Plan[]): number =>
  nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) =>
        sum + ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      0,
    );
