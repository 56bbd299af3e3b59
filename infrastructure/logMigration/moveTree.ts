// Translates the positions of the audit log's tree when the log moves. The leaves stay the same: events keep their ids and times.
import type { Position } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Reached } from '../../projections/engine/checkpoints.ts';

/** Returns the positions that the tree refers to, if it was sealed from this store. */
export const treePositions = async (db: Sql, storeId: string): Promise<readonly Position[]> => {
  const { rows } = await db.query<{ position: Position }>(
    `SELECT position FROM audit.tree WHERE store_id = $1 AND position IS NOT NULL
     UNION SELECT position FROM audit.tiles WHERE level = 0 AND EXISTS (SELECT FROM audit.tree WHERE store_id = $1)`,
    [storeId],
  );
  return rows.map(({ position }) => position);
};

/** Runs in the caller's transaction, with the positions that `treePositions` returned, translated. */
export const moveTreeTo = async (
  tx: Sql,
  from: string,
  to: string,
  positions: ReadonlyMap<Position, Reached | null>,
): Promise<void> => {
  const { rowCount } = await tx.query('UPDATE audit.tree SET store_id = $2 WHERE store_id = $1', [from, to]);
  if (rowCount === 0) return;
  const pairs = [...positions].flatMap(([old, reached]) =>
    reached === null ? [] : [[old, reached.position] as const],
  );
  const values = [pairs.map(([old]) => old), pairs.map(([, now]) => now)];
  const moved = 'FROM unnest($1::text[], $2::text[]) AS v(was, now) WHERE position = v.was';
  await tx.query(`UPDATE audit.tree SET position = v.now ${moved}`, values);
  await tx.query(`UPDATE audit.tiles SET position = v.now ${moved}`, values);
};
