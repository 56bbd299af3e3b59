// Deletes old items of institutions that agree with our movements (rule V4). Reports stay the same: an agreed item says what the movement
// says. Days are judged one by one, in order. An item stays if it differs in anything, if it is listed on another day than we posted it, or
// if it is matched with a dispute or an unknown return, because a later return may have the same amount.
import type { OldItems } from '../../application/ports/providerBooks.ts';
import type { CaughtUp } from '../../application/ports/readModels/progress.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { KIND, MISSED, MOVEMENT_OF_ITEM, OURS, SCHEMA, THEIRS, WITHOUT_ITEM } from './queries.ts';

/** Longer than anything looks at an item: 31 days of comparisons, and 90 days in which a Pix may be returned. */
const KEPT_DAYS = 180;
/** Items per step, and those of the same instant. A step takes some milliseconds. */
const BATCH = 1_000;
const CURRENT_MS = 10_000;

/**
 * Judges the next day that has items, if it is old and every comparison has passed it. Comparisons that repeat go back a day at most. If a
 * posting of the day was never compared, nothing would tell it from an agreed one, so all items of the day stay.
 */
const JUDGE = `INSERT INTO operations.reconciled_days (connection_id, day, state)
  SELECT $1, n.day, CASE WHEN EXISTS (SELECT FROM ${SCHEMA}.movements m WHERE m.connection_id = $1 AND m.day = n.day AND m.kind <> 'fee'
      AND m.at IS NOT NULL AND ${WITHOUT_ITEM} AND NOT ${MISSED}) THEN 'kept' ELSE 'clearing' END
  FROM (SELECT min(i.day) AS day FROM operations.provider_items i WHERE i.connection_id = $1 AND i.day > coalesce(
    (SELECT max(d.day) FROM operations.reconciled_days d WHERE d.connection_id = $1), '-infinity'::date)) n
  WHERE n.day < ((now() - $2::integer * interval '1 day') AT TIME ZONE 'America/Sao_Paulo')::date
    AND n.day < (SELECT ((min(l.until) - interval '1 day') AT TIME ZONE 'America/Sao_Paulo')::date
      FROM operations.reconciliation_looks l WHERE l.connection_id = $1)
  ON CONFLICT DO NOTHING`;

/** The next page of a day to be cleared. `until` null: it has no more items. */
const PAGE = `SELECT d.day::text AS day, d.cleared_until::text AS since, max(p.at)::text AS until, count(p.at) AS items
  FROM (SELECT * FROM operations.reconciled_days WHERE connection_id = $1 AND state = 'clearing' LIMIT 1) d
  LEFT JOIN LATERAL (SELECT i.at FROM operations.provider_items i
    WHERE i.connection_id = d.connection_id AND i.day = d.day AND i.at > d.cleared_until
    ORDER BY i.at FETCH FIRST ${BATCH} ROWS WITH TIES) p ON true
  GROUP BY d.day, d.cleared_until`;

/** The lock keeps an item that a comparison is just changing. */
const DELETE = `DELETE FROM operations.provider_items WHERE ctid = ANY (ARRAY(
    SELECT i.ctid FROM operations.provider_items i ${MOVEMENT_OF_ITEM}
    WHERE i.connection_id = $1 AND i.day = $2::date AND i.at > $3::timestamptz AND i.at <= $4::timestamptz
      AND i.match_id IS NULL AND m.day = i.day AND ${THEIRS} = ${OURS} AND ${KIND} IS NULL AND NOT ${MISSED}
    FOR UPDATE OF i SKIP LOCKED))`;

const ADVANCE = `UPDATE operations.reconciled_days SET cleared_until = $3::timestamptz, state = $4
  WHERE connection_id = $1 AND day = $2::date`;

interface Page {
  readonly day: string;
  readonly since: string;
  readonly until: string | null;
  readonly items: number;
}

/** `derived`: the pool that writes derived data. */
export const oldItems = (derived: Sql, caughtUp: CaughtUp): OldItems => ({
  deleteSome: async (connectionId: ConnectionId) => {
    const page = (await derived.query<Page>(PAGE, [connectionId])).rows[0];
    if (page !== undefined) {
      const { day, since, until, items } = page;
      if (until !== null) await derived.query(DELETE, [connectionId, day, since, until]);
      const state = items < BATCH ? 'cleared' : 'clearing';
      await derived.query(ADVANCE, [connectionId, day, until ?? since, state]);
      return true;
    }
    if (!(await caughtUp('providerMovements', CURRENT_MS)).isCaughtUp) return false;
    return (await derived.query(JUDGE, [connectionId, KEPT_DAYS])).rowCount > 0;
  },
});
