// Fires the timers of a group a page at a time, so that nothing waits for a large group (architecture §7).
import type { Sql } from '../../application/ports/sql.ts';
import type { TimerGroup } from '../../application/ports/timers.ts';

const PAGE = 500;
const FIRE = `UPDATE operations.timers t SET due_at = 'epoch', held = false FROM page WHERE t.kind = page.kind AND t.key = page.key`;

/** Makes the timers of the group due now: the first page in this transaction, the others by `fireNextPage` after it. */
export const fireTimersNow = async (db: Sql, { kind, group, mode }: TimerGroup): Promise<void> => {
  const { rowCount } = await db.query(
    `WITH page AS (SELECT kind, key FROM operations.timers
       WHERE kind = $1 AND group_id = $2 AND ($3::text IS NULL OR mode = $3) AND due_at > 'epoch'
       ORDER BY due_at LIMIT ${PAGE} FOR UPDATE)
     ${FIRE}`,
    [kind, group, mode ?? null],
  );
  if ((rowCount ?? 0) < PAGE) return;
  await db.query(
    `INSERT INTO operations.group_firings (kind, group_id, mode) VALUES ($1, $2, coalesce($3::text, 'any'))
     ON CONFLICT (kind, group_id, mode) DO UPDATE SET fired_at = excluded.fired_at, due_from = 'epoch'`,
    [kind, group, mode ?? null],
  );
};

/** Whether timer `t` was set before the firing `f` and still waits. */
const WAITS = `t.kind = f.kind AND t.group_id = f.group_id AND (f.mode = 'any' OR t.mode = f.mode) AND t.due_at > 'epoch'
    AND t.set_at <= f.fired_at`;

/**
 * Fires the next page of the group whose turn it is. Returns false if no page is left. A firing ends when a look at the whole group finds
 * no timer, so that timers that others had locked are fired as well.
 */
export const fireNextPage = async (db: Sql): Promise<boolean> => {
  const { rowCount } = await db.query({
    name: 'fire_next_page',
    text: `WITH f AS MATERIALIZED (SELECT * FROM operations.group_firings ORDER BY paged_at LIMIT 1 FOR UPDATE SKIP LOCKED),
      page AS MATERIALIZED (SELECT p.* FROM f CROSS JOIN LATERAL (
        SELECT t.kind, t.key, t.due_at FROM operations.timers t WHERE ${WAITS} AND t.due_at >= f.due_from
        ORDER BY t.due_at LIMIT ${PAGE} FOR UPDATE SKIP LOCKED) p),
      fired AS (${FIRE}),
      read AS (SELECT count(*) AS timers, max(due_at) AS up_to FROM page),
      ended AS (DELETE FROM operations.group_firings g USING f, read
        WHERE (g.kind, g.group_id, g.mode) = (f.kind, f.group_id, f.mode) AND read.timers = 0 AND f.due_from = 'epoch'
          AND NOT EXISTS (SELECT FROM operations.timers t WHERE ${WAITS}))
      UPDATE operations.group_firings g SET paged_at = clock_timestamp(),
        due_from = CASE WHEN read.timers = ${PAGE} THEN read.up_to ELSE 'epoch' END
      FROM f, read WHERE (g.kind, g.group_id, g.mode) = (f.kind, f.group_id, f.mode) AND (read.timers > 0 OR f.due_from > 'epoch')`,
    values: [],
  });
  return rowCount === 1;
};
