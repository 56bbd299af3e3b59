// pg-boss's tables as this program needs them: of the version its statements are written for, with an index of its own.
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { LOCK_CLASS } from '../postgres/leases.ts';
import { JOBS_SCHEMA_VERSION, OtherJobsSchema } from './schema.ts';
import { CREATE_LINES_INDEX, FIND_INSTALLED, SCHEMA_VERSION } from './statements.ts';

interface Found {
  /** null: nothing is installed. */
  readonly version: number | null;
  readonly isIndexed: boolean;
}

const find = async (db: Sql): Promise<Found> => {
  const { rows } = await db.query<{ installed: boolean; indexed: boolean }>(FIND_INSTALLED);
  if (!rows[0]?.installed) return { version: null, isIndexed: false };
  const versions = await db.query<{ version: number }>(SCHEMA_VERSION);
  return { version: versions.rows[0]?.version ?? null, isIndexed: rows[0].indexed };
};

/** Before pg-boss starts: it brings older tables to its version, and would work on newer ones without a word. */
export const refuseNewerTables = async (db: Sql): Promise<void> => {
  const { version } = await find(db);
  if (version !== null && version > JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version);
};

/** After pg-boss has started. */
export const completeTables = async (db: SqlPool): Promise<void> => {
  const { version, isIndexed } = await find(db);
  if (version !== JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version ?? 0);
  if (isIndexed) return; // asked first: even where it exists, making it would wait for all who write
  await db.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock($1, hashtext('jobs index'))`, [LOCK_CLASS]);
    await tx.query(CREATE_LINES_INDEX);
  });
};

/** For tools beside the running program. Throws OtherJobsSchema; false: there are no tables yet, and no jobs. */
export const hasTables = async (db: Sql): Promise<boolean> => {
  const { version } = await find(db);
  if (version !== null && version !== JOBS_SCHEMA_VERSION) throw new OtherJobsSchema(version);
  return version !== null;
};
