// Checks that pg-boss's tables have the version that this program's statements need, and adds this program's indexes.
import { PgBoss } from 'pg-boss';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { LOCK_CLASS } from '../postgres/leases.ts';
import { JOBS_SCHEMA, JOBS_SCHEMA_VERSION, OtherJobsSchema } from './schema.ts';
import { CREATE_INDEXES, FIND_INSTALLED, SCHEMA_VERSION } from './statements.ts';

interface Found {
  /** Schema version of pg-boss; null if it is not installed. */
  readonly version: number | null;
  readonly isIndexed: boolean;
}

const find = async (db: Sql): Promise<Found> => {
  const { rows } = await db.query<{ installed: boolean; indexed: boolean }>(FIND_INSTALLED);
  if (!rows[0]?.installed) return { version: null, isIndexed: false };
  const versions = await db.query<{ version: number }>(SCHEMA_VERSION);
  return { version: versions.rows[0]?.version ?? null, isIndexed: rows[0].indexed };
};

/** Call it before pg-boss starts, which migrates older tables and silently accepts newer ones. Throws OtherJobsSchema. */
export const refuseNewerTables = async (db: Sql): Promise<void> => {
  const { version } = await find(db);
  if (version !== null && version > JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version);
};

/** Call it after pg-boss has started. Throws OtherJobsSchema. */
export const completeTables = async (db: SqlPool): Promise<void> => {
  const { version, isIndexed } = await find(db);
  if (version !== JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version ?? 0);
  await db.query('SELECT operations.set_storage($1)', [JOBS_SCHEMA]);
  if (isIndexed) return; // checked first, because CREATE INDEX waits for all writers even if the index exists
  await db.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock($1, hashtext('jobs index'))`, [LOCK_CLASS]);
    await tx.query(CREATE_INDEXES);
  });
};

/** For tools beside the running program. Returns false if there are no tables yet, and so no jobs. Throws OtherJobsSchema. */
export const hasTables = async (db: Sql): Promise<boolean> => {
  const { version } = await find(db);
  if (version !== null && version !== JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version);
  return version !== null;
};

/** Creates the tables in a database without them, for jobs of a dump. Throws OtherJobsSchema. */
export const installTables = async (db: SqlPool): Promise<void> => {
  await refuseNewerTables(db);
  const boss = new PgBoss({
    db: { executeSql: (text, values) => db.query(text, values) },
    schema: JOBS_SCHEMA,
    schedule: false,
    supervise: false,
  });
  await boss.start();
  await boss.stop({ graceful: false });
  await completeTables(db);
};
