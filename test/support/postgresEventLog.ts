// The PostgreSQL event store for the conformance suite: a new database per log, with connections that the server can cut.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { connectionConfig, PgSession } from '../../infrastructure/postgres/session.ts';
import type { EventStoreHarness, LogUnderTest } from '../conformance/eventStore.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { loseFacts } from './lostFacts.ts';

export interface PostgresEventLog extends LogUnderTest {
  readonly connectionString: string;
  /** The test's own connection, which is never cut. */
  readonly sql: pg.Client;
}

const APPEND_ONE = `SELECT * FROM event_store.append(
  ARRAY[$1], ARRAY[-1]::bigint[], ARRAY[1]::bigint[],
  ARRAY[1]::bigint[], ARRAY[0]::bigint[], ARRAY[$2]::uuid[], ARRAY[$3], ARRAY[$4], ARRAY[$5])`;

const connected = async (connectionString: string, name: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString, application_name: name });
  await client.connect();
  return client;
};

export const createPostgresEventLog = async (): Promise<PostgresEventLog> => {
  const database = await migratedDatabase();
  const { connectionString } = database;
  const own = `test ${randomUUID()}`;
  const sql = await connected(connectionString, own);
  const stores: EventStore[] = [];
  const log: PostgresEventLog = {
    connectionString,
    sql,
    async connect() {
      const store = await openPostgresEventStore({ connectionString });
      stores.push(store);
      return store;
    },
    async transaction(work) {
      const session = await PgSession.open(connectionConfig(connectionString, own));
      try {
        return await session.transaction(work);
      } finally {
        await session.close();
      }
    },
    async cutConnections() {
      await sql.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> $1`,
        [own],
      );
    },
    async holdAppend(stream, event) {
      const writer = await connected(connectionString, own);
      await writer.query('BEGIN');
      await writer.query(APPEND_ONE, [stream, event.id, event.type, event.data, event.metadata]);
      return {
        async release() {
          await writer.query('COMMIT');
          await writer.end();
        },
      };
    },
    async restore(head) {
      await loseFacts(sql, 'DELETE FROM event_store.events WHERE position > $1', [Number(head)]);
      await log.cutConnections();
    },
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      await sql.end();
      await database.drop();
    },
  };
  return log;
};

export const postgresHarness: EventStoreHarness = { createLog: createPostgresEventLog };
