// Checks that pg-boss's tables have the version that this program's statements need, and adds this program's indexes.
import { PgBoss } from 'pg-boss';
import { isLockUnavailable, type Sql, type SqlPool } from '../../application/ports/sql.ts';
import { LOCK_CLASS } from '../postgres/leases.ts';
import { LOCK_MS, lettingPass } from '../postgres/migrate.ts';
import { JOBS_SCHEMA, JOBS_SCHEMA_VERSION, OtherJobsSchema } from './schema.ts';
import { CREATE_INDEXES, DROP_OLD_INDEX, FIND_INSTALLED, SCHEMA_VERSION } from './statements.ts';

interface Found {
  /** Schema version of pg-boss; null if it is not installed. */
  readonly version: number | null;
  readonly isIndexed: boolean;
  readonly hasOldIndex: boolean;
}

const find = async (db: Sql): Promise<Found> => {
  const { rows } = await db.query<{ installed: boolean; indexed: boolean; outdated: boolean }>(FIND_INSTALLED);
  if (!rows[0]?.installed) return { version: null, isIndexed: false, hasOldIndex: false };
  const versions = await db.query<{ version: number }>(SCHEMA_VERSION);
  return { version: versions.rows[0]?.version ?? null, isIndexed: rows[0].indexed, hasOldIndex: rows[0].outdated };
};

/** All statements on the jobs of the running version queue behind a change that waits for a table. */
const changeIndexes = (db: SqlPool, text: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    await tx.query(`SELECT pg_advisory_xact_lock($1, hashtext('jobs index'))`, [LOCK_CLASS]);
    await tx.query(text);
  });

/** Call it before pg-boss starts, which migrates older tables and silently accepts newer ones. Throws OtherJobsSchema. */
export const refuseNewerTables = async (db: Sql): Promise<void> => {
  const { version } = await find(db);
  if (version !== null && version > JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version);
};

/** Call it after pg-boss has started. Throws OtherJobsSchema, or MigrationHeldUp. */
export const completeTables = async (db: SqlPool): Promise<void> => {
  const { version, isIndexed, hasOldIndex } = await find(db);
  if (version !== JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version ?? 0);
  await db.query('SELECT operations.set_storage($1)', [JOBS_SCHEMA]);
  // Looks first, because CREATE INDEX waits for all writers even if the index exists.
  if (!isIndexed) await lettingPass(() => changeIndexes(db, CREATE_INDEXES));
  // A dump may hold the table for hours, so a later start may drop the index.
  if (hasOldIndex)
    await changeIndexes(db, DROP_OLD_INDEX).catch((error: unknown) => {
      if (!isLockUnavailable(error)) throw error;
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
