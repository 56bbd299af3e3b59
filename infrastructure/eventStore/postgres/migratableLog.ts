// The PostgreSQL log as source or target of a copy.
import type pg from 'pg';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { int8Array, textArray, uuidArray } from '../../postgres/binaryArrays.ts';
import { endSession, SessionWatch } from '../../postgres/sessionWatch.ts';
import type { LogName, LogState } from '../logState.ts';
import { type MigratableLog, runsOf } from '../logState.ts';
import { deletion } from './deletion.ts';
import { WRITER_SETTINGS } from './groupCommit.ts';
import { Reader } from './reader.ts';
import { openSession } from './session.ts';
import { openPostgresEventStore } from './store.ts';

/** The lock of event_store.append: its holder is the only writer. */
const LOCK = 'SELECT pg_advisory_xact_lock(5860930411590117)';

const DELETED_AT_ONCE = 1_000;

const SET_STATE = 'UPDATE event_store.store SET use = $1, other_id = $2, other_address = $3';

/** Positions continue from the head in the order of the arrays. The head is read by a statement after the lock (0001_event_log). */
const COPY = `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
  SELECT head.place + n.number, n.revision, n.recorded_at::timestamptz, n.id, n.stream, n.type, n.data, n.metadata
  FROM (SELECT coalesce(max(position), 0) AS place FROM event_store.events) head,
    unnest($1::text[], $2::bigint[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[])
      WITH ORDINALITY n(stream, revision, recorded_at, id, type, data, metadata, number)`;

/** Runs the statements in one transaction, under the append lock. */
const underLock = async (session: pg.Client, statements: readonly pg.QueryConfig[]): Promise<void> => {
  await session.query('BEGIN');
  try {
    await session.query(LOCK);
    for (const statement of statements) await session.query(statement);
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
};

const copyStatement = (events: readonly RecordedEvent[]): pg.QueryConfig => ({
  text: COPY,
  values: [
    textArray(events.map(({ stream }) => stream)),
    int8Array(events.map(({ revision }) => revision)),
    textArray(events.map(({ recordedAt }) => recordedAt)),
    uuidArray(events.map(({ id }) => id)),
    textArray(events.map(({ type }) => type)),
    textArray(events.map(({ data }) => data)),
    textArray(events.map(({ metadata }) => metadata)),
  ],
});

const addressOf = (connectionString: string): string => {
  const { host, pathname } = new URL(connectionString);
  return `postgres://${host}${pathname}`;
};

/** Opens the log in a migrated database. Throws EventStoreUnavailable. */
export const openMigratablePostgresLog = async (
  connectionString: string,
  onError: (error: unknown) => void,
): Promise<MigratableLog> => {
  const name = 'quita event store: copies';
  const watch = new SessionWatch({ connectionString, application_name: name });
  const session = await openSession({ connectionString, watch, name, settings: WRITER_SETTINGS });
  const opening = openPostgresEventStore({ connectionString, watch, poolSize: 1, inAnyState: true, onError });
  const store = await opening.catch(async (error: unknown) => {
    await endSession(session);
    throw error;
  });
  const reader = new Reader({ connectionString, watch, poolSize: 1, onError });
  const logName: LogName = { storeId: store.storeId, address: addressOf(connectionString) };
  const state = async (): Promise<LogState> => (await reader.store()).state;
  /** Returns the statement that names the log this is a copy of; a transaction that begins with it may change the copy. */
  const namingItsSource = async (): Promise<pg.QueryConfig> => {
    const current = await state();
    if (current.kind !== 'copy') throw new Error(`only a copy can be changed this way; the log is ${current.kind}`);
    return { text: "SELECT set_config('quita.copy_of', $1, true)", values: [current.other.storeId] };
  };
  return {
    name: logName,
    store,
    state,
    async setState(next) {
      const other = next.kind === 'inUse' ? null : next.other;
      const values = [next.kind, other?.storeId ?? null, other?.address ?? null];
      await underLock(session, [{ text: SET_STATE, values }]);
    },
    async write(events, onWritten) {
      const naming = await namingItsSource();
      for (const run of runsOf(events, () => true)) {
        await underLock(session, [naming, copyStatement(run)]);
        onWritten(run.length);
      }
    },
    async deleteDeliveries(ended) {
      const naming = await namingItsSource();
      for (let at = 0; at < ended.length; at += DELETED_AT_ONCE)
        await underLock(session, [naming, deletion(ended.slice(at, at + DELETED_AT_ONCE))]);
    },
    async close() {
      await Promise.all([store.close(), reader.close(), endSession(session)]);
    },
  };
};
