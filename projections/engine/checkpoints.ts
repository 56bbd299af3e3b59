// The checkpoint of each consumer of the log. Moved by compare-and-set in the transaction of the rows (architecture §6).

import type { Position } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';

export interface Checkpoint {
  readonly name: string;
  readonly version: number;
  readonly storeId: string;
  /** null: nothing taken yet. */
  readonly position: Position | null;
  /** How often a rebuilt copy of the read model was swapped in. */
  readonly swaps: number;
}

/** The checkpoint is of another log, or of a longer one, so that events would be skipped. An operator must decide. */
export class CheckpointMismatch extends Error {
  override name = 'CheckpointMismatch';
}
/** Another process moved the checkpoint, so this one does not lead any more. */
export class LostLeadership extends Error {
  override name = 'LostLeadership';
}

interface Row {
  name: string;
  version: number;
  store_id: string;
  position: Position | null;
  swaps: number;
}
const fromRow = (row: Row): Checkpoint => ({
  name: row.name,
  version: row.version,
  storeId: row.store_id,
  position: row.position,
  swaps: row.swaps,
});

export const readCheckpoints = async (db: Sql, names: readonly string[]): Promise<Map<string, Checkpoint>> => {
  const text =
    'SELECT name, version, store_id, position, swaps FROM subscriptions.checkpoints WHERE name = ANY($1::text[])';
  const { rows } = await db.query<Row>(text, [names]);
  return new Map(rows.map((row) => [row.name, fromRow(row)]));
};

/** Returns the checkpoints of all consumers and of all copies being built. */
export const readAllCheckpoints = async (db: Sql): Promise<readonly Checkpoint[]> => {
  const text = 'SELECT name, version, store_id, position, swaps FROM subscriptions.checkpoints ORDER BY name';
  return (await db.query<Row>(text)).rows.map(fromRow);
};

/** Creates a checkpoint. Where there is one already, it counts as swapped. */
export const createCheckpoint = async (
  db: Sql,
  { name, version, storeId, position }: Omit<Checkpoint, 'swaps'>,
): Promise<void> => {
  const text = `INSERT INTO subscriptions.checkpoints AS c (name, version, store_id, position) VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, store_id = excluded.store_id, position = excluded.position,
      swaps = c.swaps + 1, moved_at = now()`;
  await db.query(text, [name, version, storeId, position]);
};

export const dropCheckpoint = async (db: Sql, name: string): Promise<void> => {
  await db.query('DELETE FROM subscriptions.checkpoints WHERE name = $1', [name]);
};

/** Where a consumer stands, as far as its leader knows. */
export type Standing = Pick<Checkpoint, 'name' | 'position' | 'swaps'>;

/** Moves all checkpoints, or throws LostLeadership. One NOTIFY with their names reaches other processes with the commit. */
export const moveCheckpoints = async (
  tx: Sql,
  role: string,
  from: readonly Standing[],
  to: Position,
): Promise<void> => {
  const names = from.map(({ name }) => name);
  const { rows } = await tx.query<{ moved: number }>({
    name: 'move_checkpoints',
    text: `WITH moved AS (
        UPDATE subscriptions.checkpoints c SET position = $4, moved_at = now()
        FROM unnest($1::text[], $2::text[], $3::int[]) AS v(name, was, swaps)
        WHERE c.name = v.name AND c.position IS NOT DISTINCT FROM v.was AND c.swaps = v.swaps RETURNING c.name)
      SELECT count(*) AS moved, CASE WHEN count(*) = cardinality($1) THEN pg_notify('quita_progress', $5) END FROM moved`,
    values: [
      names,
      from.map(({ position }) => position),
      from.map(({ swaps }) => swaps),
      to,
      `${role} ${to} ${names.join(',')}`,
    ],
  });
  if (rows[0]?.moved !== names.length) throw new LostLeadership(`${role}: a checkpoint was moved by somebody else`);
};

/** Throws LostLeadership when the checkpoint was moved, or another copy was swapped in. Rejects when the session is gone. */
export const assertStillThere = async (db: Sql, { name, position, swaps }: Standing): Promise<void> => {
  const known = (await readCheckpoints(db, [name])).get(name);
  if ((known?.position ?? null) !== position || known?.swaps !== swaps)
    throw new LostLeadership(`the checkpoint of ${name} was moved by somebody else`);
};

/** Throws CheckpointMismatch. `head`: newest position of the log, null when it is empty. */
export const assertSameLog = (checkpoint: Checkpoint, storeId: string, head: Position | null): void => {
  if (checkpoint.storeId !== storeId)
    throw new CheckpointMismatch(
      `${checkpoint.name} has followed event store ${checkpoint.storeId}, but this one is ${storeId}: restore the matching database, or drop the read models and process checkpoints`,
    );
  if (checkpoint.position !== null && (head === null || checkpoint.position > head))
    throw new CheckpointMismatch(
      `${checkpoint.name} has followed the event store up to ${checkpoint.position}, but it ends at ${head ?? 'nothing'}: was a backup restored? Restore both stores, the event store last`,
    );
};

// --- A log that moves to another store: the same events stand there, at other positions ---

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
