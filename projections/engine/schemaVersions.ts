// The copies of a projection: the live one that queries read, and one being built beside it.
import type { Sql } from '../../application/ports/sql.ts';
import {
  type Checkpoint,
  type ComparedLog,
  createCheckpoint,
  createFirstCheckpoint,
  dropCheckpoint,
  isOfLog,
  type Reached,
  readCheckpoints,
} from './checkpoints.ts';
import { divide, lockPositions } from './dividing.ts';
import { adoptParked, dropParked } from './parkedStreams.ts';
import { pause } from './pause.ts';
import { liveSchema, nextSchema, type Projection, verifySchema } from './projection.ts';
import { publish } from './publishedViews.ts';

export const dropSchema = (db: Sql, schema: string) => db.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);

export const createSchema = async (db: Sql, projection: Projection, schema: string): Promise<void> => {
  await dropSchema(db, schema);
  await db.query(`CREATE SCHEMA ${schema}`);
  await db.query(projection.ddl(schema));
  await db.query('SELECT operations.set_storage($1)', [schema]);
};

export const nextName = (projection: Projection): string => `${projection.name}/next`;

/** The live copy compared with this program's version. `newer`: a newer version of the program built it. */
type LiveCondition = 'missing' | 'current' | 'outdated' | 'newer';

/** A read model whose live tables are of another version of the program. */
export interface OtherVersion {
  readonly name: string;
  readonly condition: 'outdated' | 'newer';
}

export const conditionOf = (
  { version, isByAccount }: Pick<Projection, 'version' | 'isByAccount'>,
  live: Pick<Checkpoint, 'version' | 'partitions'> | undefined,
): LiveCondition => {
  if (live === undefined) return 'missing';
  // A newer version divided what this one can't divide.
  if (live.partitions !== undefined && !isByAccount) return 'newer';
  if (live.version === version) return 'current';
  return live.version < version ? 'outdated' : 'newer';
};

/** Creates empty tables on the first start. Returns the condition before that. Tables of another version are left as they are. */
export const ensureLive = async (tx: Sql, projection: Projection, storeId: string): Promise<LiveCondition> => {
  const checkpoint = (await readCheckpoints(tx, [projection.name])).get(projection.name);
  const condition = conditionOf(projection, checkpoint);
  if (condition !== 'missing') return condition;
  await createSchema(tx, projection, liveSchema(projection.name));
  await publish(tx, projection);
  await createFirstCheckpoint(tx, { name: projection.name, version: projection.version, storeId });
  return condition;
};

/** Returns the checkpoint of the copy beside the live one: one of this log left by a killed rebuild, or a new one. */
export const ensureNext = async (tx: Sql, projection: Projection, log: ComparedLog): Promise<Checkpoint> => {
  const name = nextName(projection);
  const look = async () => (await readCheckpoints(tx, [name])).get(name);
  const checkpoint = await look();
  if (checkpoint?.version === projection.version && (await isOfLog(log, checkpoint))) return checkpoint;
  await createSchema(tx, projection, nextSchema(projection.name));
  await dropParked(tx, name);
  await createFirstCheckpoint(tx, { name, version: projection.version, storeId: log.storeId });
  return (await look()) as Checkpoint;
};

/** Readers queue behind a waiter for an exclusive lock. A swap waits this long, then lets them proceed and retries. */
const SWAP_LOCK_MS = 200;

/** Returns the tables of the live copy, of any version, in order of creation, in which writers lock them. */
const liveTables = async (tx: Sql, projection: Projection): Promise<readonly string[]> => {
  const text = `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.oid`;
  return (await tx.query<{ name: string }>(text, [liveSchema(projection.name)])).rows.map(({ name }) => name);
};

/** Whether this program's version should replace the live copy. */
export type IsWanted = (projection: Projection, live: Checkpoint | undefined) => boolean;

/** `behind`: the copy must catch up first. `unwanted`: it was dropped. */
export type SwapOutcome = 'live' | 'behind' | 'unwanted';

/**
 * Makes the copy the live one, or drops it if it is no longer wanted. Returns `behind` if the live one is ahead, because reads would go
 * back in time. A live copy of another log, or of this one before a restore, is never ahead. If the live one is divided, its furthest
 * partition counts, and the copy is divided alike. A working leader notices the swap by its compare-and-set and restarts from here. The
 * notice informs processes of another version that they can't read these tables. Rejects with `lock_not_available` if a long transaction
 * reads the live copy.
 */
export const swap = async (
  tx: Sql,
  projection: Projection,
  log: ComparedLog,
  reached: Reached | null,
  isWanted: IsWanted,
): Promise<SwapOutcome> => {
  await tx.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_MS}`);
  // Tables first, then the checkpoint, in the leader's order, to prevent deadlocks.
  const tables = await liveTables(tx, projection);
  if (tables.length > 0) await tx.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  const live = await lockPositions(tx, projection.name);
  const current = (await readCheckpoints(tx, [projection.name])).get(projection.name);
  if (!isWanted(projection, current)) {
    await dropNext(tx, projection);
    return 'unwanted';
  }
  const ahead = live.filter(({ position: at }) => at !== null && (reached === null || at > reached.position));
  for (const one of ahead) if (await isOfLog(log, one)) return 'behind';
  const { partitions } = current ?? {};
  await dropSchema(tx, liveSchema(projection.name));
  await tx.query(`ALTER SCHEMA ${nextSchema(projection.name)} RENAME TO ${liveSchema(projection.name)}`);
  await publish(tx, projection);
  const { position = null, eventId = null } = reached ?? {};
  const { name, version } = projection;
  await createCheckpoint(tx, { name, version, storeId: log.storeId, position, eventId });
  if (partitions !== undefined && projection.isByAccount) await divide(tx, name, partitions);
  await dropCheckpoint(tx, nextName(projection));
  await adoptParked(tx, nextName(projection), projection.name);
  if (position !== null)
    await tx.query(`SELECT pg_notify('quita_progress', $1)`, [`projector ${position} ${name}:${version}`]);
  return 'live';
};

const dropNext = async (tx: Sql, projection: Projection): Promise<void> => {
  await dropSchema(tx, nextSchema(projection.name));
  await dropParked(tx, nextName(projection));
  await dropCheckpoint(tx, nextName(projection));
};

/**
 * Replaces the views of the live copy. Returns false if it has another version than this program. Rejects with `lock_not_available` if a
 * long transaction reads them.
 */
export const publishAnew = async (tx: Sql, projection: Projection): Promise<boolean> => {
  await tx.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_MS}`);
  const tables = await liveTables(tx, projection);
  if (tables.length > 0) await tx.query(`LOCK TABLE ${tables} IN ACCESS SHARE MODE`); // prevents a swap meanwhile
  const live = (await readCheckpoints(tx, [projection.name])).get(projection.name);
  if (conditionOf(projection, live) !== 'current') return false;
  await publish(tx, projection);
  return true;
};

export const createVerifyCopy = async (db: Sql, projection: Projection): Promise<string> => {
  const schema = verifySchema(projection.name);
  await createSchema(db, projection, schema);
  return schema;
};

const LOOK_MS = 50;

/** Whether every read model has tables. On the very first start, nothing can be read before the projector leads. */
export const haveReadModels = async (db: Sql, projections: readonly Projection[]): Promise<boolean> => {
  const names = projections.map(({ name }) => name);
  return (await readCheckpoints(db, names)).size === names.length;
};

/** Blocks until every read model has tables. */
export const untilReadModelsExist = async (
  db: Sql,
  projections: readonly Projection[],
  signal?: AbortSignal,
): Promise<void> => {
  while (!signal?.aborted && !(await haveReadModels(db, projections))) await pause(LOOK_MS, signal);
};
