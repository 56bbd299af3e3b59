// Measures what a statement reads.
import type { Sql } from '../../application/ports/sql.ts';

/** Runs the statement. Returns the number of buffers read by it and by the functions that it calls. */
export const buffersOf = async (db: Sql, text: string, values: readonly unknown[]): Promise<number> => {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Readonly<Record<string, number>> }[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) ${text}`,
    values,
  );
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
};
