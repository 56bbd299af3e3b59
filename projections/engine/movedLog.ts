// Checkpoints of a log that moves to another store: the same events stand there, at other positions.
import type { Position } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { assertSameLog, type Checkpoint, CheckpointMismatch, readAllCheckpoints } from './checkpoints.ts';

/** A copy being built beside a read model; one that followed another log is thrown away by whoever finds it. */
const isBesides = ({ name }: Checkpoint): boolean => name.endsWith('/next');

/**
 * Those that follow `storeId`, whose newest position is `head`. The others must follow `movedTo` already. Throws CheckpointMismatch when
 * one follows a third log, or a longer one.
 */
export const checkpointsToMove = async (
  db: Sql,
  storeId: string,
  head: Position | null,
  movedTo: string,
): Promise<readonly Checkpoint[]> => {
  const all = await readAllCheckpoints(db);
  const foreign = all.find((each) => ![storeId, movedTo].includes(each.storeId) && !isBesides(each));
  if (foreign !== undefined)
    throw new CheckpointMismatch(
      `${foreign.name} has followed event store ${foreign.storeId}, which is neither of the two: this is not the log of this database`,
    );
  const toMove = all.filter((each) => each.storeId === storeId);
  for (const checkpoint of toMove) assertSameLog(checkpoint, storeId, head);
  return toMove;
};

/** In the caller's transaction. `positions`: where each position stands in the log `storeId` now. Throws when one is missing. */
export const moveCheckpointsTo = async (
  tx: Sql,
  checkpoints: readonly Checkpoint[],
  storeId: string,
  positions: ReadonlyMap<Position, Position | null>,
): Promise<void> => {
  for (const { name, storeId: from, position } of checkpoints) {
    const to = position === null ? null : positions.get(position);
    if (to === undefined) throw new Error(`nobody looked where ${name} stands in the copy`);
    const { rowCount } = await tx.query(
      `UPDATE subscriptions.checkpoints SET store_id = $2, position = $3, moved_at = now()
        WHERE name = $1 AND store_id = $4 AND position IS NOT DISTINCT FROM $5`,
      [name, storeId, to, from, position],
    );
    if (rowCount !== 1) throw new Error(`the checkpoint of ${name} was moved by somebody else`);
  }
};
