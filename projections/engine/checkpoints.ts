// Checkpoints of the consumers of the log, moved by compare-and-set in the transaction that writes the rows (architecture §6).

import type { EventStore, Position, SubscriptionSignal } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';

export interface Checkpoint {
  readonly name: string;
  readonly version: number;
  readonly storeId: string;
  /** null if the consumer has processed nothing yet. */
  readonly position: Position | null;
  /** Id of the event at `position`, or null if unknown or if no event has that position. */
  readonly eventId: string | null;
  /** Number of times a rebuilt copy of the read model was swapped in. */
  readonly swaps: number;
  /** Number of partitions, which then have the positions. Absent: the consumer is not divided. */
  readonly partitions?: number;
}

/** The checkpoint belongs to another log, or to a longer one, so that events would be skipped. An operator must decide. */
export class CheckpointMismatch extends Error {
  override name = 'CheckpointMismatch';
}
/** Another process moved the checkpoint, so this process is not the leader. */
export class LostLeadership extends Error {
  override name = 'LostLeadership';
}

interface Row {
  name: string;
  version: number;
  store_id: string;
  position: Position | null;
  event_id: string | null;
  swaps: number;
  partitions: number | null;
}

/**
 * Added to the stored version of a divided consumer. A program that knows no partitions treats it as a newer version, which it ignores or
 * rebuilds.
 */
export const DIVIDED_VERSION = 1_000_000;

const fromRow = (row: Row): Checkpoint => ({
  name: row.name,
  version: row.partitions === null ? row.version : row.version - DIVIDED_VERSION,
  storeId: row.store_id,
  position: row.position,
  eventId: row.event_id,
  swaps: row.swaps,
  ...(row.partitions !== null && { partitions: row.partitions }),
});

const COLUMNS = 'name, version, store_id, position, event_id, swaps, partitions';

export const readCheckpoints = async (db: Sql, names: readonly string[]): Promise<Map<string, Checkpoint>> => {
  const text = `SELECT ${COLUMNS} FROM subscriptions.checkpoints WHERE name = ANY($1::text[])`;
  const { rows } = await db.query<Row>(text, [names]);
  return new Map(rows.map((row) => [row.name, fromRow(row)]));
};

/** Returns the checkpoints that have the positions of each consumer: its own, or those of its partitions and their marks. */
export const readPositions = async (
  db: Sql,
  consumers: readonly string[],
): Promise<ReadonlyMap<string, readonly Checkpoint[]>> => {
  const text = `SELECT ${COLUMNS}, coalesce(consumer, name) AS consumer FROM subscriptions.checkpoints
    WHERE partitions IS NULL AND (name = ANY($1::text[]) OR consumer = ANY($1::text[])) ORDER BY name`;
  const { rows } = await db.query<Row & { consumer: string }>(text, [consumers]);
  const found = Map.groupBy(rows, ({ consumer }) => consumer);
  return new Map([...found].map(([consumer, own]) => [consumer, own.map(fromRow)]));
};

/** Whether a checkpoint of this name belongs to a copy in progress beside a read model. A copy of another log is discarded when found. */
export const isCopy = (name: string): boolean => name.endsWith('/next');

/** Returns the checkpoints of all consumers and of all copies in progress. */
export const readAllCheckpoints = async (db: Sql): Promise<readonly Checkpoint[]> => {
  const text = `SELECT ${COLUMNS} FROM subscriptions.checkpoints ORDER BY name`;
  return (await db.query<Row>(text)).rows.map(fromRow);
};

/** Creates a checkpoint. Replacing an existing one counts as a swap. */
export const createCheckpoint = async (
  db: Sql,
  { name, version, storeId, position, eventId }: Omit<Checkpoint, 'swaps'>,
): Promise<void> => {
  const text = `INSERT INTO subscriptions.checkpoints AS c (name, version, store_id, position, event_id) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, store_id = excluded.store_id, position = excluded.position,
      event_id = excluded.event_id, swaps = c.swaps + 1, moved_at = now()`;
  await db.query(text, [name, version, storeId, position, eventId]);
};

/** Creates the checkpoint of a consumer that has processed nothing yet. */
export const createFirstCheckpoint = (db: Sql, checkpoint: Pick<Checkpoint, 'name' | 'version' | 'storeId'>) =>
  createCheckpoint(db, { ...checkpoint, position: null, eventId: null });

/** The starting point of a new consumer in a log that other consumers have followed before. */
export interface Beginning {
  readonly name: string;
  readonly from: 'beginning' | 'now';
}

/**
 * Creates the checkpoints of consumers that have none. Call it before anything appends events of this version. If none of them has one,
 * this is the first start of a deployment, and all begin at the beginning. Throws EventStoreUnavailable.
 */
export const createBeginnings = async (
  db: Sql,
  store: Pick<EventStore, 'storeId' | 'head' | 'eventIdAt'>,
  consumers: readonly Beginning[],
): Promise<void> => {
  const known = await readCheckpoints(
    db,
    consumers.map(({ name }) => name),
  );
  const added = consumers.filter(({ name }) => !known.has(name));
  if (added.length === 0) return;
  const isNow = ({ from }: Beginning): boolean => from === 'now' && known.size > 0;
  const head = added.some(isNow) ? await store.head() : null;
  const eventId = head === null ? null : await store.eventIdAt(head);
  // One statement, so that a process that starts at the same time finds all of them or none.
  const text = `INSERT INTO subscriptions.checkpoints (name, version, store_id, position, event_id)
    SELECT name, 1, $2, CASE WHEN is_now THEN $4 END, CASE WHEN is_now THEN $5 END
    FROM unnest($1::text[], $3::boolean[]) AS v (name, is_now)
    ON CONFLICT (name) DO NOTHING`;
  await db.query(text, [added.map(({ name }) => name), store.storeId, added.map(isNow), head, eventId]);
};

export const dropCheckpoint = async (db: Sql, name: string): Promise<void> => {
  await db.query('DELETE FROM subscriptions.checkpoints WHERE name = $1', [name]);
};

/** A consumer's checkpoint as its leader knows it. */
export interface Standing extends Pick<Checkpoint, 'name' | 'version' | 'position' | 'swaps'> {
  /** The place of the newest version of its row in the table, if known. */
  readonly place?: string | null;
}

/** The place of the newest version of each checkpoint in the table, by name. */
export type Places = ReadonlyMap<string, string>;

export const readPlaces = async (db: Sql, names: readonly string[]): Promise<Places> => {
  const text = 'SELECT name, ctid::text AS place FROM subscriptions.checkpoints WHERE name = ANY($1::text[])';
  const { rows } = await db.query<{ name: string; place: string }>(text, [names]);
  return new Map(rows.map(({ name, place }) => [name, place]));
};

/** A position in the log and the id of its event, which may be null as in Checkpoint. */
export interface Reached {
  readonly position: Position;
  readonly eventId: string | null;
}

export const reachedBy = (batch: Exclude<SubscriptionSignal, { kind: 'caughtUp' }>): Reached => {
  const { position } = batch;
  const last = batch.kind === 'events' ? batch.events.at(-1) : undefined;
  return { position, eventId: last?.position === position ? last.id : null };
};

/** PostgreSQL limits a notice to 8,000 bytes. */
const NOTICE_MAX = 7_900;

/** Consumers that reached a position: those whose checkpoints move there, and those that had nothing to do up to it. */
export interface Progressed {
  readonly moved: readonly Standing[];
  /** Their checkpoints follow later (lanes.ts). */
  readonly idle: readonly Standing[];
}

/** Returns the texts of the notices to other processes, as few as their length allows. */
const noticesOf = (role: string, { moved, idle }: Progressed, to: Position): readonly string[] => {
  const begin = `${role} ${to} `;
  const texts = [...moved.map(nameAndVersion), ...idle.map((one) => `${nameAndVersion(one)}:${IDLE}`)];
  const notices: string[] = [];
  for (const text of texts) {
    const last = notices.at(-1);
    if (last === undefined || last.length + text.length >= NOTICE_MAX) notices.push(begin + text);
    else notices[notices.length - 1] = `${last},${text}`;
  }
  return notices;
};
const nameAndVersion = ({ name, version }: Standing): string => `${name}:${version}`;
export const IDLE = 'idle';

const NOTIFY = `SELECT count(pg_notify('quita_progress', n.notice)) FROM unnest($1::text[]) AS n (notice)`;

/**
 * $1 notices, $2 names, $3 positions, $4 swaps, $5 new position, $6 id of its event, $7 places. While a transaction holds an old snapshot,
 * no version of a row can be removed, and the index by name leads through all of them. A place leads to the newest.
 */
export const moveText = (by: 'name' | 'place'): string => `WITH moved AS (
    UPDATE subscriptions.checkpoints c SET position = $5, event_id = $6, moved_at = now()
    FROM unnest($2::text[], $3::text[], $4::int[]) AS v(name, was, swaps)
    WHERE c.name = v.name AND c.position IS NOT DISTINCT FROM v.was AND c.swaps = v.swaps
      AND ${by === 'place' ? 'c.ctid = ANY($7::text[]::tid[])' : '$7::text[] IS NULL'}
    RETURNING c.name, c.ctid)
  SELECT count(*)::int AS moved, array_agg(name) AS names, array_agg(ctid::text) AS places,
    CASE WHEN count(*) = cardinality($2) THEN (${NOTIFY}) END
  FROM moved`;

/**
 * Moves the checkpoints in one statement, and returns their new places, which are valid after the commit. Throws LostLeadership if any was
 * moved elsewhere. Notifies the other processes of these consumers and of the idle ones on commit.
 */
export const moveCheckpoints = async (
  tx: Sql,
  role: string,
  progressed: Progressed,
  { position: to, eventId }: Reached,
): Promise<Places> => {
  const { moved: from } = progressed;
  const notices = noticesOf(role, progressed, to);
  if (from.length === 0) {
    await tx.query({ name: 'notify_progress', text: NOTIFY, values: [notices] });
    return new Map();
  }
  const names = from.map(({ name }) => name);
  const places = from.flatMap(({ place }) => place ?? []);
  const by = places.length === from.length ? 'place' : 'name';
  const { rows } = await tx.query<{ moved: number; names: string[]; places: string[] }>({
    name: `move_checkpoints_by_${by}`,
    text: moveText(by),
    values: [
      notices,
      names,
      from.map(({ position }) => position),
      from.map(({ swaps }) => swaps),
      to,
      eventId,
      by === 'place' ? places : null,
    ],
  });
  const [row] = rows;
  if (row?.moved !== names.length) throw new LostLeadership(`${role}: another process moved a checkpoint`);
  return new Map(row.names.map((name, n) => [name, row.places[n] as string]));
};

/** Returns the names of consumers whose checkpoint was moved, or another copy swapped in. Rejects if the session is lost. */
export const movedElsewhere = async (db: Sql, standings: readonly Standing[]): Promise<readonly string[]> => {
  const names = standings.map(({ name }) => name);
  const known = await readCheckpoints(db, names);
  const isMoved = ({ name, position, swaps }: Standing): boolean =>
    (known.get(name)?.position ?? null) !== position || known.get(name)?.swaps !== swaps;
  return standings.filter(isMoved).map(({ name }) => name);
};

/** Returns why the checkpoint doesn't belong to this log, or null. `eventId` is that of the event at its position. */
const mismatchOf = (
  { name, storeId, position, eventId: remembered }: Checkpoint,
  log: string,
  head: Position | null,
  eventId: string | null,
): CheckpointMismatch | null => {
  if (storeId !== log)
    return new CheckpointMismatch(
      `${name} has followed event store ${storeId}, but this one is ${log}: restore the matching database, or drop the read models and process checkpoints`,
    );
  if (position !== null && (head === null || position > head))
    return new CheckpointMismatch(
      `${name} has followed the event store up to ${position}, but it ends at ${head ?? 'nothing'}: was a backup restored? Restore both stores, the event store last`,
    );
  // A missing event is a delivery that was deleted in the meantime.
  if (remembered !== null && eventId !== null && eventId !== remembered)
    return new CheckpointMismatch(
      `${name} has followed the event store up to event ${remembered} at ${position}, but there it has event ${eventId}: was a backup restored, and appended to since? Restore both stores, the event store last`,
    );
  return null;
};

/** The log to compare checkpoints with. */
export type ComparedLog = Pick<EventStore, 'storeId' | 'head' | 'eventIdAt'>;

/** Returns the problem of the first checkpoint that doesn't belong to this log, or null if no mismatch is known. */
export const mismatchWith = async (
  log: ComparedLog,
  checkpoints: readonly Checkpoint[],
): Promise<CheckpointMismatch | null> => {
  const head = await log.head();
  const ids = new Map<Position, string | null>(); // most have the same position
  for (const checkpoint of checkpoints) {
    const { position, eventId } = checkpoint;
    const isComparable = position !== null && eventId !== null && head !== null && position <= head;
    if (isComparable && !ids.has(position)) ids.set(position, await log.eventIdAt(position));
    const mismatch = mismatchOf(checkpoint, log.storeId, head, position === null ? null : (ids.get(position) ?? null));
    if (mismatch !== null) return mismatch;
  }
  return null;
};

/** Throws CheckpointMismatch if a checkpoint belongs to another log. Throws EventStoreUnavailable. */
export const assertSameLog = async (log: ComparedLog, checkpoints: readonly Checkpoint[]): Promise<void> => {
  const mismatch = await mismatchWith(log, checkpoints);
  if (mismatch !== null) throw mismatch;
};

/** Returns whether the checkpoint belongs to this log, as far as is known. Throws EventStoreUnavailable. */
export const isOfLog = async (log: ComparedLog, checkpoint: Checkpoint): Promise<boolean> =>
  (await mismatchWith(log, [checkpoint])) === null;

// --- Moving the log to another store, which has the same events at other positions ---

/**
 * Returns the checkpoints that follow the log and must be moved. The others must already follow `movedTo`. Throws CheckpointMismatch if
 * one follows a third log, or another state of this log.
 */
export const checkpointsToMove = async (db: Sql, log: ComparedLog, movedTo: string): Promise<readonly Checkpoint[]> => {
  const all = await readAllCheckpoints(db);
  const foreign = all.find((each) => ![log.storeId, movedTo].includes(each.storeId) && !isCopy(each.name));
  if (foreign !== undefined)
    throw new CheckpointMismatch(
      `${foreign.name} has followed event store ${foreign.storeId}, which is neither of the two: this is not the log of this database`,
    );
  const toMove = all.filter((each) => each.storeId === log.storeId);
  await assertSameLog(log, toMove);
  return toMove;
};

/** Runs in the caller's transaction. `positions` maps each position to the one in log `storeId`. Throws if one is missing. */
export const moveCheckpointsTo = async (
  tx: Sql,
  checkpoints: readonly Checkpoint[],
  storeId: string,
  positions: ReadonlyMap<Position, Reached | null>,
): Promise<void> => {
  for (const { name, storeId: from, position } of checkpoints) {
    const to = position === null ? null : positions.get(position);
    if (to === undefined) throw new Error(`the position of ${name} in the copy is unknown`);
    const { rowCount } = await tx.query(
      `UPDATE subscriptions.checkpoints SET store_id = $2, position = $3, event_id = $4, moved_at = now()
        WHERE name = $1 AND store_id = $5 AND position IS NOT DISTINCT FROM $6`,
      [name, storeId, to?.position ?? null, to?.eventId ?? null, from, position],
    );
    if (rowCount !== 1) throw new Error(`another process moved the checkpoint of ${name}`);
  }
};
