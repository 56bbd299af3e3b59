// Deletes old items of institutions that agree with Quita's movements (rule V4). Reports stay the same, because an agreed item only repeats
// its movement. Days are checked one by one, in order. An item stays if it differs, or is listed on another day than it was posted. It also
// stays if it is matched with a dispute or an unknown return, because a later return may have the same amount.
import type { OldItems } from '../../application/ports/providerBooks.ts';
import type { CaughtUp } from '../../application/ports/readModels/progress.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { KIND, MISSED, MOVEMENT_OF_ITEM, OF_ANOTHER, OURS, SCHEMA, THEIRS, WITHOUT_ITEM } from './queries.ts';

/** Longer than any use of an item: 31 days of comparisons, and 90 days in which a Pix may be returned. */
const KEPT_DAYS = 180;
/** Rows per step, and those of the same instant. A step takes some milliseconds. */
const BATCH = 1_000;
const CURRENT_MS = 10_000;

/** Begins the next day that has items, if it is old and every comparison has passed it. Repeated comparisons go back a day at most. */
const BEGIN = `INSERT INTO operations.reconciled_days (connection_id, day, state)
  SELECT $1, n.day, 'judging' FROM (SELECT min(i.day) AS day FROM operations.provider_items i WHERE i.connection_id = $1 AND i.day > coalesce(
    (SELECT max(d.day) FROM operations.reconciled_days d WHERE d.connection_id = $1), '-infinity'::date)) n
  WHERE n.day < ((now() - $2::integer * interval '1 day') AT TIME ZONE 'America/Sao_Paulo')::date
    AND n.day < (SELECT ((min(l.until) - interval '1 day') AT TIME ZONE 'America/Sao_Paulo')::date
      FROM operations.reconciliation_looks l WHERE l.connection_id = $1)
  ON CONFLICT DO NOTHING`;

interface OpenDay {
  readonly day: string;
  readonly state: 'judging' | 'clearing';
  /** The instant up to which the day was checked. */
  readonly since: string;
}
const OPEN = `SELECT day::text AS day, state, looked_until::text AS since FROM operations.reconciled_days
  WHERE connection_id = $1 AND state IN ('judging', 'clearing') LIMIT 1`;
/** Only one of two processes continues. A slow one would mistake postings with deleted items for ones that were never compared. */
const ADVANCE = `UPDATE operations.reconciled_days SET state = $5, looked_until = $6::timestamptz
  WHERE connection_id = $1 AND day = $2::date AND state = $3 AND looked_until = $4::timestamptz`;

const POSTED = "m.connection_id = $1 AND m.day = $2::date AND m.at IS NOT NULL AND m.kind <> 'fee'";
const LISTED = 'i.connection_id = $1 AND i.day = $2::date';
/** Selects the last instant of the next page, and its number of rows. */
const pageOf = (row: string, from: string): string => `SELECT max(p.at)::text AS until, count(*) AS rows FROM (
  SELECT ${row}.at FROM ${from} AND ${row}.at > $3::timestamptz ORDER BY ${row}.at FETCH FIRST ${BATCH} ROWS WITH TIES) p`;
const PAGE = {
  judging: pageOf('m', `${SCHEMA}.movements m WHERE ${POSTED}`),
  clearing: pageOf('i', `operations.provider_items i WHERE ${LISTED}`),
};
const between = (row: string): string => `${row}.at > $3::timestamptz AND ${row}.at <= $4::timestamptz`;

/** Finds a posting that was never compared. Without the items of its day, it could not be distinguished from those that agreed. */
const UNCOMPARED = `SELECT FROM ${SCHEMA}.movements m WHERE ${POSTED} AND ${between('m')} AND ${WITHOUT_ITEM} AND NOT ${MISSED} LIMIT 1`;

/** The lock keeps an item that a comparison is changing. */
const DELETE = `DELETE FROM operations.provider_items WHERE ctid = ANY (ARRAY(
    SELECT i.ctid FROM operations.provider_items i ${MOVEMENT_OF_ITEM} WHERE ${LISTED} AND ${between('i')}
      AND i.match_id IS NULL AND (${OF_ANOTHER} OR m.day = i.day AND ${THEIRS} = ${OURS} AND ${KIND} IS NULL AND NOT ${MISSED})
    FOR UPDATE OF i SKIP LOCKED))`;

/** Checks the next page of a day. Returns the day's state after that, and the instant up to which it was checked. */
const takePage = async (
  db: Sql,
  connectionId: ConnectionId,
  { day, state, since }: OpenDay,
): Promise<readonly [state: string, since: string]> => {
  const values = [connectionId, day, since];
  const page = (await db.query<{ until: string | null; rows: number }>(PAGE[state], values)).rows[0];
  const until = page?.until ?? null;
  if (until !== null) {
    const { rowCount } = await db.query(state === 'judging' ? UNCOMPARED : DELETE, [...values, until]);
    if (state === 'judging' && rowCount > 0) return ['kept', until];
  }
  if ((page?.rows ?? 0) >= BATCH) return [state, until ?? since];
  return state === 'judging' ? ['clearing', '-infinity'] : ['cleared', until ?? since];
};

/** `derived`: the pool that writes derived data. */
export const oldItems = (derived: Sql, caughtUp: CaughtUp): OldItems => ({
  deleteSome: async (connectionId: ConnectionId) => {
    const open = (await derived.query<OpenDay>(OPEN, [connectionId])).rows[0];
    if (open !== undefined) {
      const { day, state, since } = open;
      await derived.query(ADVANCE, [connectionId, day, state, since, ...(await takePage(derived, connectionId, open))]);
      return true;
    }
    if (!(await caughtUp('providerMovements', CURRENT_MS)).isCaughtUp) return false;
    return (await derived.query(BEGIN, [connectionId, KEPT_DAYS])).rowCount > 0;
  },
});
