// Fires the timers of a group a page at a time, so that nothing waits for a large group (architecture §7).
import type { Sql } from '../../application/ports/sql.ts';
import type { TimerGroup } from '../../application/ports/timers.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';

const EPOCH = fromMillis(0);

const PAGE = 500;
const FIRE = `UPDATE operations.timers t SET due_at = page.fires_at, held = false FROM page WHERE t.kind = page.kind AND t.key = page.key`;

/** Fires the first page. Returns the number of fired timers. */
const fireFirstPage = async (
  db: Sql,
  { kind, group, mode }: TimerGroup,
  dueAt: Timestamp,
  lock: 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED',
): Promise<number> => {
  const { rowCount } = await db.query(
    `WITH page AS (SELECT kind, key, $4::timestamptz AS fires_at FROM operations.timers
       WHERE kind = $1 AND group_id = $2 AND ($3::text IS NULL OR mode = $3) AND due_at > $4
       ORDER BY due_at LIMIT ${PAGE} ${lock})
     ${FIRE}`,
    [kind, group, mode ?? null, dueAt],
  );
  return rowCount ?? 0;
};

/** Leaves the other pages to `fireNextPage`. Timers that another transaction set until now are fired too, so the clock is read here. */
const fireOthers = async (db: Sql, { kind, group, mode }: TimerGroup, dueAt: Timestamp): Promise<void> => {
  await db.query(
    `INSERT INTO operations.group_firings AS f (kind, group_id, mode, fired_at, due_at)
     VALUES ($1, $2, coalesce($3::text, 'any'), clock_timestamp(), $4)
     ON CONFLICT (kind, group_id, mode) DO UPDATE SET fired_at = excluded.fired_at, due_from = 'epoch',
       due_at = CASE WHEN 'epoch' IN (f.due_at, excluded.due_at) THEN 'epoch' ELSE greatest(f.due_at, excluded.due_at) END`,
    [kind, group, mode ?? null, dueAt],
  );
};

/** Makes the timers of the group due now: the first page in this transaction, the others by `fireNextPage` after it. */
export const fireTimersNow = async (db: Sql, group: TimerGroup): Promise<void> => {
  if ((await fireFirstPage(db, group, EPOCH, 'FOR UPDATE')) === PAGE) await fireOthers(db, group, EPOCH);
};

/**
 * Makes the timers of the group that are due after `dueAt` (account time) due then, in the same pages. Waits for no locked timer:
 * `fireNextPage` returns to it.
 */
export const bringTimersForward = async (db: Sql, group: TimerGroup, dueAt: Timestamp): Promise<void> => {
  await fireOthers(db, group, dueAt);
  await fireFirstPage(db, group, dueAt, 'FOR UPDATE SKIP LOCKED');
};

/** Whether timer `t` was set before the firing `f` and still waits. */
const WAITS = `t.kind = f.kind AND t.group_id = f.group_id AND (f.mode = 'any' OR t.mode = f.mode) AND t.due_at > f.due_at
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
        SELECT t.kind, t.key, t.due_at, f.due_at AS fires_at FROM operations.timers t WHERE ${WAITS} AND t.due_at >= f.due_from
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
