// How far each follower of the log is. Moved by compare-and-set in the transaction of the rows (design §6).
import type { Position } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';

export interface Checkpoint {
  readonly name: string;
  readonly version: number;
  readonly storeId: string;
  /** null: nothing taken yet. */
  readonly position: Position | null;
}

/** A checkpoint of another log, or of a log that was longer: events would be skipped. An operator must decide. */
export class CheckpointMismatch extends Error {
  override name = 'CheckpointMismatch';
}
/** Somebody else moved the checkpoint: this leader is not the leader any more. */
export class LostLeadership extends Error {
  override name = 'LostLeadership';
}

interface Row {
  name: string;
  version: number;
  store_id: string;
  position: Position | null;
}
const fromRow = (row: Row): Checkpoint => ({
  name: row.name,
  version: row.version,
  storeId: row.store_id,
  position: row.position,
});

export const readCheckpoints = async (db: Sql, names: readonly string[]): Promise<Map<string, Checkpoint>> => {
  const text = 'SELECT name, version, store_id, position FROM log_followers.checkpoints WHERE name = ANY($1::text[])';
  const { rows } = await db.query<Row>(text, [names]);
  return new Map(rows.map((row) => [row.name, fromRow(row)]));
};

/** Of every follower and of every copy being built. */
export const readAllCheckpoints = async (db: Sql): Promise<readonly Checkpoint[]> => {
  const text = 'SELECT name, version, store_id, position FROM log_followers.checkpoints ORDER BY name';
  return (await db.query<Row>(text)).rows.map(fromRow);
};

export const createCheckpoint = async (db: Sql, { name, version, storeId, position }: Checkpoint): Promise<void> => {
  const text = `INSERT INTO log_followers.checkpoints (name, version, store_id, position) VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, store_id = excluded.store_id, position = excluded.position, moved_at = now()`;
  await db.query(text, [name, version, storeId, position]);
};

export const dropCheckpoint = async (db: Sql, name: string): Promise<void> => {
  await db.query('DELETE FROM log_followers.checkpoints WHERE name = $1', [name]);
};

/** Moves all or throws LostLeadership. One NOTIFY for the whole batch, as soon as it is committed. */
export const moveCheckpoints = async (
  tx: Sql,
  role: string,
  names: readonly string[],
  from: readonly (Position | null)[],
  to: Position,
): Promise<void> => {
  const { rowCount } = await tx.query({
    name: 'move_checkpoints',
    text: `UPDATE log_followers.checkpoints c SET position = $3, moved_at = now()
      FROM unnest($1::text[], $2::text[]) AS v(name, was), pg_notify('quita_progress', $4)
      WHERE c.name = v.name AND c.position IS NOT DISTINCT FROM v.was`,
    values: [names, from, to, `${role} ${to}`],
  });
  if (rowCount !== names.length) throw new LostLeadership(`${role}: a checkpoint was moved by somebody else`);
};

/** `head`: newest position of the log, null when it is empty. */
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
