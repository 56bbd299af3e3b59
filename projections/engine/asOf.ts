// Builds read models as they were after an event of the log, in a schema of their own. The live copies, their checkpoints and the projector
// are not touched (architecture §6). A killed build is resumed by the next run.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import { AlreadyRunning, AsOfRefused, COPIES_TABLE as COPIES } from '../../application/ports/readModelWork.ts';
import type { LeaderSession, OpenLeaderSession, Sql } from '../../application/ports/sql.ts';
import { LostLeadership } from './checkpoints.ts';
import { faultText, LeftOut, readSkips } from './parking.ts';
import { pause } from './pause.ts';
import type { Projection } from './projection.ts';
import { type Copy, replay, type Taken } from './replay.ts';
import { holdRetention } from './retentionLock.ts';
import { dropSchema } from './schemaVersions.ts';

/** Streams that a copy follows no further than the event before `revision`. */
const PARKED = 'quita_as_of_parked';

const DDL = (schema: string) => `CREATE SCHEMA ${schema};
  CREATE TABLE ${schema}.${COPIES} (read_model text PRIMARY KEY, version integer NOT NULL, store_id text NOT NULL,
    as_of text NOT NULL, event_id text, position text, events bigint NOT NULL DEFAULT 0);
  CREATE TABLE ${schema}.${PARKED} (read_model text NOT NULL, stream text NOT NULL, revision integer NOT NULL, error text NOT NULL,
    PRIMARY KEY (read_model, stream));
  COMMENT ON SCHEMA ${schema} IS 'Read models as of an earlier moment, made by: projections as-of';`;

const RESERVED = /^(pg|rm)_/;

/** Throws AsOfRefused if the text can't name a schema without quotes, or is reserved. */
const assertName = async (db: Sql, schema: string): Promise<void> => {
  const isPlain = /^[a-z][a-z0-9_]{0,59}$/.test(schema) && !RESERVED.test(schema);
  const { rows } = await db.query<{ quoted: string }>('SELECT quote_ident($1) AS quoted', [schema]);
  if (!isPlain || rows[0]?.quoted !== schema)
    throw new AsOfRefused(
      `"${schema}" can't be a schema: use lower-case letters, digits and _, and no SQL keyword; pg_ and rm_ are reserved`,
    );
};

type SchemaState = 'absent' | 'own' | 'foreign';
const stateOf = async (db: Sql, schema: string): Promise<SchemaState> => {
  const { rows } = await db.query<{ exists: boolean; own: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS exists, to_regclass($1 || '.${COPIES}') IS NOT NULL AS own`,
    [schema],
  );
  return rows[0]?.own ? 'own' : rows[0]?.exists ? 'foreign' : 'absent';
};

const foreign = (schema: string) =>
  new AsOfRefused(`schema ${schema} exists and was not made by this command: choose another name`);

/** Opens a session that alone works on the schema. Throws AlreadyRunning and AsOfRefused. */
const sessionFor = async (schema: string, openSession: OpenLeaderSession): Promise<LeaderSession> => {
  const session = await openSession('as-of');
  try {
    await assertName(session, schema);
    if (!(await session.tryLead(`as-of ${schema}`)))
      throw new AlreadyRunning(`another process is working on schema ${schema}`);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
};

/** Removes a schema that `buildAsOf` made. Throws AsOfRefused for any other, and AlreadyRunning while it is built. */
export const dropAsOf = async (schema: string, openSession: OpenLeaderSession): Promise<void> => {
  const session = await sessionFor(schema, openSession);
  try {
    const state = await stateOf(session, schema);
    if (state === 'absent') throw new AsOfRefused(`there is no schema ${schema}`);
    if (state === 'foreign') throw foreign(schema);
    await dropSchema(session, schema);
  } finally {
    await session.close();
  }
};

interface CopyRow {
  readonly version: number;
  readonly store_id: string;
  readonly as_of: Position;
  readonly event_id: string | null;
  readonly position: Position | null;
}

/** Returns the copy's progress, after creating its tables if they don't exist. Throws AsOfRefused if they are as of another moment. */
const copyOf = async (
  tx: Sql,
  schema: string,
  { name, version, ddl }: Projection,
  store: EventStore,
  asOf: Position,
): Promise<CopyRow> => {
  if ((await stateOf(tx, schema)) === 'absent') await tx.query(DDL(schema));
  const eventId = await store.eventIdAt(asOf);
  const { rows } = await tx.query<CopyRow & { name: string }>(`SELECT read_model AS name, * FROM ${schema}.${COPIES}`);
  const other = rows.find(
    (row) => row.as_of !== asOf || row.store_id !== store.storeId || (eventId !== null && row.event_id !== eventId),
  );
  if (other !== undefined)
    throw new AsOfRefused(
      `schema ${schema} holds read models as of ${other.as_of} of event store ${other.store_id}: drop it first (--drop)`,
    );
  const known = rows.find((row) => row.name === name);
  if (known !== undefined && known.version !== version)
    throw new AsOfRefused(`schema ${schema} was made by another version of this program: drop it first (--drop)`);
  if (known !== undefined) return known;
  await tx.query(ddl(schema));
  const made = { version, store_id: store.storeId, as_of: asOf, event_id: eventId, position: null };
  await tx.query(
    `INSERT INTO ${schema}.${COPIES} (read_model, version, store_id, as_of, event_id) VALUES ($1, $2, $3, $4, $5)`,
    [name, version, store.storeId, asOf, eventId],
  );
  return made;
};

/** Returns the events that the copy leaves out: those that an operator had skipped by then, and the streams that it parked itself. */
const leftOutOf = async (db: Sql, log: EventLog, schema: string, name: string, asOf: Position): Promise<LeftOut> => {
  const leftOut = new LeftOut();
  await readSkips(log, name, leftOut, asOf);
  const { rows } = await db.query<{ stream: string; revision: number }>(
    `SELECT stream, revision FROM ${schema}.${PARKED} WHERE read_model = $1`,
    [name],
  );
  for (const { stream, revision } of rows) leftOut.park(stream, revision);
  return leftOut;
};

/** Smaller than a rebuild's, so that the live projector never waits long for the database. */
const BATCH_SIZE = 1_000;
/** Longest pause between batches. */
const REST_MS_MAX = 2_000;

export interface AsOfBuild extends EventLog {
  readonly openSession: OpenLeaderSession;
  readonly schema: string;
  /** The last position whose event the copies contain. */
  readonly asOf: Position;
  readonly signal?: AbortSignal;
  readonly onTaken?: (position: Position, events: number) => void;
}

export interface AsOfReport {
  readonly readModel: string;
  /** Number of events that may have changed its rows, including those of earlier runs. */
  readonly events: number;
  /** Streams with an event that the read model couldn't process. */
  readonly parked: number;
}

/** A copy while it is built. */
interface Building extends Copy {
  readonly position: Position | null;
}

/** Stores a copy's progress after a batch. Throws LostLeadership if another process moved it. */
const advance = async (
  tx: Sql,
  schema: string,
  { projection: { name } }: Building,
  { events, poisoned }: Taken,
  from: Position | null,
  to: Position,
): Promise<void> => {
  for (const { recorded, error } of poisoned)
    await tx.query(`INSERT INTO ${schema}.${PARKED} VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, [
      ...[name, recorded.stream, recorded.revision, faultText(error)],
    ]);
  const { rowCount } = await tx.query(
    `UPDATE ${schema}.${COPIES} SET position = $2, events = events + $4 WHERE read_model = $1 AND position IS NOT DISTINCT FROM $3`,
    [name, to, from, events],
  );
  if (rowCount !== 1) throw new LostLeadership(`another process builds ${schema}`);
};

/**
 * Catches up copies at the same position. Rests as long as it works, so that it uses at most half of a processor and of the database's
 * time.
 */
const build = async (
  { store, codec, schema, asOf, signal, onTaken }: AsOfBuild,
  session: LeaderSession,
  copies: readonly Building[],
): Promise<void> => {
  let begun = performance.now();
  await replay({
    ...{ store, codec, session, copies, after: (copies[0] as Building).position, until: asOf, batchSize: BATCH_SIZE },
    onBatch: async (tx, to, from, taken) => {
      for (const [n, copy] of copies.entries()) await advance(tx, schema, copy, taken[n] as Taken, from, to);
    },
    onTaken: async (position, events) => {
      onTaken?.(position, events);
      await pause(Math.min(performance.now() - begun, REST_MS_MAX), signal);
      begun = performance.now();
    },
    ...(signal && { signal }),
  });
};

/** Builds copies of the read models. Throws AsOfRefused if the schema is in use for something else, and AlreadyRunning. */
export const buildAsOf = async (
  projections: readonly Projection[],
  wanted: AsOfBuild,
): Promise<readonly AsOfReport[]> => {
  const { schema, store, asOf } = wanted;
  const session = await sessionFor(schema, wanted.openSession);
  try {
    if ((await stateOf(session, schema)) === 'foreign') throw foreign(schema);
    await holdRetention(session);
    const building: Building[] = [];
    for (const projection of projections) {
      const { position } = await session.transaction((tx) => copyOf(tx, schema, projection, store, asOf));
      const leftOut = await leftOutOf(session, wanted, schema, projection.name, asOf);
      building.push({ projection, writer: projection.writer(schema), leftOut, position });
    }
    // Copies of a killed build are at the position where it ended, the others at the start.
    for (const copies of Map.groupBy(building, ({ position }) => position).values())
      await build(wanted, session, copies);
    const { rows } = await session.query<AsOfReport>(
      `SELECT read_model AS "readModel", events, (SELECT count(*) FROM ${schema}.${PARKED} p WHERE p.read_model = c.read_model) AS parked
       FROM ${schema}.${COPIES} c WHERE read_model = ANY ($1::text[]) ORDER BY array_position($1::text[], read_model)`,
      [projections.map(({ name }) => name)],
    );
    return rows;
  } finally {
    await session.close();
  }
};

/** The clock of a store may go back by less than this. */
const CLOCK_STEP_MS = 3_600_000;

/** Returns the position of the last event that was recorded at or before the time, or null if no event was. */
export const lastRecordedBy = async (
  store: EventStore,
  time: string,
  signal: AbortSignal,
  onRead: (position: Position) => void = () => undefined,
): Promise<Position | null> => {
  const end = new Date(Date.parse(time) + CLOCK_STEP_MS).toISOString();
  const stop = new AbortController();
  const signals = AbortSignal.any([signal, stop.signal]);
  let last: Position | null = null;
  for await (const batch of store.subscribe({ after: null, categories: null, batchSize: 4_000, signal: signals })) {
    if (batch.kind === 'caughtUp') break;
    const events = batch.kind === 'events' ? batch.events : [];
    last = events.findLast(({ recordedAt }) => recordedAt <= time)?.position ?? last;
    onRead(batch.position);
    if (events.some(({ recordedAt }) => recordedAt > end)) break;
  }
  stop.abort();
  signal.throwIfAborted();
  return last;
};
