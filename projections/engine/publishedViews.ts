// Views that a read model publishes over its live copy in other schemas. They depend on its tables, so a swap drops and recreates them in
// the same transaction. A program with other definitions replaces them soon after it starts to lead (publishing.ts).
import type { Sql } from '../../application/ports/sql.ts';
import { liveSchema, type Projection } from './projection.ts';

/** Returns the version of the views, which is stored as the comment of the live schema and dropped together with it. */
const versionOf = async (db: Sql, { published = '' }: Projection): Promise<string> => {
  const { rows } = await db.query<{ version: string }>(`SELECT 'views ' || md5($1) AS version`, [published]);
  return rows[0]?.version ?? '';
};

/** Creates the views of a copy that has just become the live one. */
export const publish = async (tx: Sql, projection: Projection): Promise<void> => {
  if (projection.published === undefined) return;
  await tx.query(projection.published);
  const version = await versionOf(tx, projection);
  await tx.query(`COMMENT ON SCHEMA ${liveSchema(projection.name)} IS '${version}'`);
};

/** Whether the views of the live copy are those that this program defines. */
export const isPublished = async (db: Sql, projection: Projection): Promise<boolean> => {
  if (projection.published === undefined) return true;
  const text = `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS version`;
  const { rows } = await db.query<{ version: string | null }>(text, [liveSchema(projection.name)]);
  return rows[0]?.version === (await versionOf(db, projection));
};

const READ_SECONDS_MAX = 5;

/**
 * Ends reads of the live copy by analysts that take longer than `seconds`. Swaps and new views wait for others, such as backups. Without
 * this, overlapping queries of analysts could delay them for ever.
 */
export const endLongReads = async (db: Sql, { name }: Projection, seconds = READ_SECONDS_MAX): Promise<void> => {
  const text = `SELECT pg_terminate_backend(a.pid) FROM analytics_access.grants g JOIN pg_stat_activity a ON a.usename = g.role
    WHERE a.xact_start < now() - make_interval(secs => $2)
      AND EXISTS (SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
        WHERE l.pid = a.pid AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND c.relnamespace = to_regnamespace($1))`;
  await db.query(text, [liveSchema(name), seconds]);
};
