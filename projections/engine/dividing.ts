// Divides a consumer into another number of partitions, in one transaction and at any time (ADR 0021). Processes that lead its former
// partitions commit nothing more: their checkpoints are gone, or have another number of swaps.
import { isLockUnavailable, type Sql, type SqlPool } from '../../application/ports/sql.ts';
import { type Checkpoint, DIVIDED_VERSION, readCheckpoints, readPositions } from './checkpoints.ts';
import { dividedInto, frontOf, furthestOf, markName, partitionName, partsOf, readName } from './partitions.ts';

/** Locks the consumer's checkpoint, then those of its partitions, so that nothing moves until the transaction ends. */
export const lockPositions = async (tx: Sql, consumer: string): Promise<readonly Checkpoint[]> => {
  // A second statement sees the partitions that another division made while this one waited.
  await tx.query('SELECT FROM subscriptions.checkpoints WHERE name = $1 FOR UPDATE', [consumer]);
  await tx.query('SELECT FROM subscriptions.checkpoints WHERE consumer = $1 ORDER BY name FOR UPDATE', [consumer]);
  return (await readPositions(tx, [consumer])).get(consumer) ?? [];
};

/** The positions of a consumer that is not divided are in its own checkpoint, which older programs can read. */
const undivide = (
  tx: Sql,
  { name, version }: Checkpoint,
  { position, eventId }: Pick<Checkpoint, 'position' | 'eventId'>,
) =>
  tx.query(
    `UPDATE subscriptions.checkpoints SET swaps = swaps + 1, version = $2, position = $3, event_id = $4, moved_at = now()
     WHERE name = $1`,
    [name, version, position, eventId],
  );

const isMark = ({ name }: Checkpoint): boolean => readName(name).isMark;

/**
 * Divides the consumer into `count` partitions. Each part of the accounts continues at its position: a partition begins at the lowest
 * position of its parts, and marks store the higher ones. Returns whether marks were needed. With a single partition and no marks, the
 * consumer is no longer divided. Returns null if the consumer has no checkpoint yet.
 */
export const divide = async (tx: Sql, consumer: string, count: number): Promise<{ hasMarks: boolean } | null> => {
  const known = await lockPositions(tx, consumer);
  const head = (await readCheckpoints(tx, [consumer])).get(consumer);
  if (head === undefined) return null;
  if (head.partitions === (count === 1 ? undefined : count) && !known.some(isMark)) return { hasMarks: false };
  const { partitions, marks } = dividedInto(frontOf(known), count);
  const eventIds = new Map(known.map(({ position, eventId }) => [position, eventId]));
  const idAt = (position: Checkpoint['position']): string | null => eventIds.get(position) ?? null;
  const [first = null] = partitions;
  if (count === 1 && marks.length === 0) {
    await undivide(tx, head, { position: first, eventId: idAt(first) });
    return { hasMarks: false };
  }
  await undivide(tx, { ...head, version: head.version + DIVIDED_VERSION }, { position: null, eventId: null });
  await tx.query('UPDATE subscriptions.checkpoints SET partitions = $2 WHERE name = $1', [consumer, count]);
  const rows = [
    ...partsOf(count).map((part, n) => ({ name: partitionName(consumer, part), position: partitions[n] ?? null })),
    ...marks.map(({ part, position }) => ({ name: markName(consumer, part), position })),
  ];
  await tx.query(
    `INSERT INTO subscriptions.checkpoints (name, consumer, version, store_id, position, event_id, swaps)
     SELECT v.name, c.name, $2, c.store_id, v.position, v.event_id, c.swaps
     FROM subscriptions.checkpoints c, unnest($3::text[], $4::text[], $5::text[]) AS v (name, position, event_id)
     WHERE c.name = $1`,
    [
      ...[consumer, head.version],
      ...[rows.map(({ name }) => name), rows.map(({ position }) => position)],
      rows.map(({ position }) => idAt(position)),
    ],
  );
  return { hasMarks: marks.length > 0 };
};

/** A swap or a running turn may hold a checkpoint. A waiter would delay the consumers behind it, so it stops waiting soon. */
const LOCK_MS = 200;

const DEADLOCK = '40P01';
const isHeld = (error: unknown): boolean => isLockUnavailable(error) || (error as { code?: string }).code === DEADLOCK;

/**
 * Divides the consumer in a transaction of its own. Returns `held` if another transaction holds its checkpoints: the caller asks again.
 * Returns `missing` if it has no checkpoint yet, and `marked` if it must ask again once the partitions have passed the marks.
 */
export const divideOnce = (
  db: Pick<SqlPool, 'transaction'>,
  consumer: string,
  count: number,
): Promise<'divided' | 'marked' | 'missing' | 'held'> =>
  db
    .transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      const done = await divide(tx, consumer, count);
      return done === null ? 'missing' : done.hasMarks ? 'marked' : 'divided';
    })
    .catch((error: unknown) => {
      if (isHeld(error)) return 'held' as const;
      throw error;
    });

/** Whether the partitions have passed all marks, so that another division removes them. */
export const havePassedMarks = (checkpoints: readonly Checkpoint[]): boolean => {
  const marks = checkpoints.filter(isMark);
  const furthest = furthestOf([null, ...marks.map(({ position }) => position)]);
  const partitions = checkpoints.filter((one) => !marks.includes(one));
  return furthest === null || partitions.every(({ position }) => position !== null && position >= furthest);
};
