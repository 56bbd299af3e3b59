// The timers table: work that falls due later, in account time (architecture §7).
import type { JobKind, JobPayload, JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import { unversioned } from '../../application/ports/payloadVersions.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import { jobOfTimer, type TestTimers, type Timer, type TimerKey, type Timers } from '../../application/ports/timers.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { hidden } from '../postgres/hidden.ts';
import { fireNextPage } from './groupFiring.ts';

interface Row {
  kind: string;
  key: string;
  payload: JobPayload;
  account_id: AccountId;
  mode: Mode;
  group_id: string | null;
  due_ms: number;
  held: boolean;
}
const COLUMNS =
  't.kind, t.key, t.payload, t.account_id, t.mode, t.group_id, t.held, (extract(epoch FROM t.due_at) * 1000)::bigint AS due_ms';
const fromRow = (row: Row): Timer => ({
  account: row.account_id,
  mode: row.mode,
  kind: row.kind,
  key: row.key,
  payload: unversioned(row.payload),
  group: row.group_id,
  dueAt: fromMillis(row.due_ms),
  ...(row.held && { held: true as const }),
});

/** The kinds of timers that this program knows. */
export interface TimerKinds {
  /** Returns the job of a due timer, by the rule of its kind. */
  readonly jobOf: (timer: Timer) => JobRequest;
  /** As JSON: the newest known version of each kind. Newer timers, and those of other kinds, are left to newer workers. */
  readonly versions: string;
}
export const timerKindsOf = (kinds: readonly JobKind[]): TimerKinds => {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return {
    jobOf: (timer) => jobOfTimer(byName.get(timer.kind) ?? { timer: null }, timer),
    versions: JSON.stringify(Object.fromEntries(kinds.map(({ name, version = 1 }) => [name, version]))),
  };
};

/** Whether the timer is known. `versions`: the parameter with TimerKinds' versions. */
const isKnown = (timer: string, versions: string): string =>
  `coalesce((${timer}.payload->>'v')::int, 1) <= (${versions}::jsonb->>${timer}.kind)::int`;

/** Sets or moves timers. At most one per (kind, key) in one call. */
export const setTimers = async (db: Sql, timers: readonly Timer[]): Promise<void> => {
  if (timers.length === 0) return;
  await db.query({
    name: 'set_timers',
    text: `INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at)
      SELECT v.kind, v.key, v.payload::jsonb, v.account_id, v.mode, v.group_id, v.due_at::timestamptz
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
        v (kind, key, payload, account_id, mode, group_id, due_at)
      ON CONFLICT (kind, key) DO UPDATE SET payload = excluded.payload, held = false, set_at = now(), due_at =
        CASE WHEN excluded.kind = ANY ($8::text[]) THEN greatest(timers.due_at, excluded.due_at) ELSE excluded.due_at END`,
    values: [
      new TextArray(timers.map((timer) => timer.kind)),
      new TextArray(timers.map((timer) => timer.key)),
      new TextArray(timers.map((timer) => JSON.stringify(timer.payload))),
      new TextArray(timers.map((timer) => timer.account)),
      new TextArray(timers.map((timer) => timer.mode)),
      new TextArray(timers.map((timer) => timer.group)),
      new TextArray(timers.map((timer) => timer.dueAt)),
      [...new Set(timers.flatMap(({ kind, onlyLater }) => (onlyLater ? kind : [])))],
    ],
  });
};

export const timers = (db: Sql, { versions }: Pick<TimerKinds, 'versions'>): Timers => ({
  set: (timer) => setTimers(db, [timer]),
  dueAt: async ({ kind, key }) => {
    const { rows } = await db.query<{ due_ms: number }>(
      'SELECT (extract(epoch FROM due_at) * 1000)::bigint AS due_ms FROM operations.timers WHERE kind = $1 AND key = $2',
      [kind, key],
    );
    return rows[0] ? fromMillis(rows[0].due_ms) : null;
  },
  among: async (keys) => {
    const { rows } = await db.query<TimerKey>(
      `SELECT t.kind, t.key FROM unnest($1::text[], $2::text[]) AS v (kind, key) JOIN operations.timers t USING (kind, key)
       WHERE t.due_at > now() OR ${isKnown('t', '$3')}`,
      [keys.map(({ kind }) => kind), keys.map(({ key }) => key), versions],
    );
    return rows;
  },
});

export const clearTimers = async (db: Sql, timers: readonly TimerKey[]): Promise<void> => {
  if (timers.length === 0) return;
  await db.query({
    name: 'clear_timers',
    text: `DELETE FROM operations.timers t USING unnest(${hidden('$1::text[]')}, ${hidden('$2::text[]')}) AS v(kind, key)
      WHERE t.kind = v.kind AND t.key = v.key`,
    values: [new TextArray(timers.map((timer) => timer.kind)), new TextArray(timers.map((timer) => timer.key))],
  });
};

/**
 * Leaves out all test timers of draining accounts: those that the clock has not jumped over are found by the clock. The accounts are read
 * once, because a drain may have many timers to pass over.
 */
const NOT_DRAINED =
  "(t.mode <> 'test' OR t.account_id NOT IN (SELECT c.account_id FROM operations.test_clocks c WHERE c.draining))";
const DRAINED_TO = "CASE WHEN c.draining THEN c.drain_until ELSE '-infinity' END";

const DUE = `(SELECT t.kind, t.key, t.due_at FROM operations.timers t
         WHERE t.due_at <= $1 AND ${NOT_DRAINED} AND ${isKnown('t', '$3')}
         ORDER BY t.due_at LIMIT $2)`;
const DUE_BY_CLOCK = `(SELECT t.kind, t.key, t.due_at FROM operations.test_clocks c CROSS JOIN LATERAL (
           SELECT i.kind, i.key, i.due_at FROM operations.timers i
           WHERE i.account_id = c.account_id AND i.mode = 'test' AND i.due_at <= $1 + c.offset_seconds * interval '1 second'
             AND i.due_at > ${DRAINED_TO} AND ${isKnown('i', '$3')}
           ORDER BY i.due_at LIMIT $2) t
         LIMIT $2)`;

/**
 * Takes up to `limit` timers that are due at real time `nowMs`, shifted by their account's test clock. `byClock` false: without the timers
 * that only a test clock makes due. Timers that a draining clock has jumped over are left to the drain. The caller enqueues the timers in
 * the same transaction. Locked timers are left to the next scan, so that two processes that take many timers can't deadlock.
 */
export const takeDueTimers = async (
  tx: Sql,
  nowMs: number,
  limit: number,
  { versions }: Pick<TimerKinds, 'versions'>,
  byClock = true,
): Promise<readonly Timer[]> => {
  const { rows } = await tx.query<Row>({
    name: byClock ? 'take_due_timers' : 'take_due_timers_by_real_time',
    // A timer may move between the search and its lock (K7). Comparing its time in the join would let PostgreSQL look timers up by time,
    // which reads all timers of a fired group for each of them.
    text: `WITH due AS (${byClock ? `${DUE} UNION ${DUE_BY_CLOCK}` : DUE}),
      free AS (SELECT i.kind, i.key, i.due_at = due.due_at AS is_unmoved FROM operations.timers i JOIN due USING (kind, key)
        FOR UPDATE OF i SKIP LOCKED)
      DELETE FROM operations.timers t USING free WHERE t.kind = free.kind AND t.key = free.key AND free.is_unmoved RETURNING ${COLUMNS}`,
    values: [fromMillis(nowMs), limit, versions],
  });
  return rows.map(fromRow);
};

/** Most timers that a look for the next one passes over. */
const PASSED_MAX = 500;

/**
 * Returns the real time in milliseconds at which the next known timer is due if no test clock moved, or Infinity without timers. Earlier if
 * more than PASSED_MAX timers before it are left to a drain or unknown: then look again at that time.
 */
export const nextDueMs = async (
  db: Sql,
  nowMs: number,
  { versions }: Pick<TimerKinds, 'versions'>,
): Promise<number> => {
  const { rows } = await db.query<{ next: number | null }>({
    name: 'next_due',
    // The parts of coalesce run one after another, so mostly only the first two, which then read one row each.
    text: `SELECT (extract(epoch FROM coalesce(
        (SELECT t.due_at FROM operations.timers t WHERE t.due_at <= $2 AND ${NOT_DRAINED} AND ${isKnown('t', '$1')} ORDER BY t.due_at LIMIT 1),
        (SELECT t.due_at FROM (SELECT * FROM operations.timers WHERE due_at > $2 ORDER BY due_at LIMIT ${PASSED_MAX}) t
         WHERE ${NOT_DRAINED} AND ${isKnown('t', '$1')} ORDER BY t.due_at LIMIT 1),
        (SELECT due_at FROM operations.timers WHERE due_at > $2 ORDER BY due_at OFFSET ${PASSED_MAX - 1} LIMIT 1))) * 1000)::bigint AS next`,
    values: [versions, fromMillis(nowMs)],
  });
  return rows[0]?.next ?? Number.POSITIVE_INFINITY;
};

/** Returns the same for timers of accounts whose test clock is ahead, and the number of these accounts, which are all looked at. */
export const nextDueByClock = async (
  db: Sql,
  { versions }: Pick<TimerKinds, 'versions'>,
): Promise<{ readonly dueMs: number; readonly clocks: number }> => {
  const { rows } = await db.query<{ next: number | null; clocks: number }>({
    name: 'next_due_by_clock',
    text: `SELECT (extract(epoch FROM min(first.due_at - c.offset_seconds * interval '1 second')) * 1000)::bigint AS next,
        count(*)::int AS clocks
      FROM operations.test_clocks c LEFT JOIN LATERAL (
        SELECT i.due_at FROM operations.timers i WHERE i.account_id = c.account_id AND i.mode = 'test'
          AND i.due_at > ${DRAINED_TO} AND ${isKnown('i', '$1')} ORDER BY i.due_at LIMIT 1) first ON true`,
    values: [versions],
  });
  return { dueMs: rows[0]?.next ?? Number.POSITIVE_INFINITY, clocks: rows[0]?.clocks ?? 0 };
};

/** Groups of the account $1 with timers that are still to be fired. */
const FIRING = "FROM operations.fired_groups g WHERE g.account_id = $1 AND g.mode = 'test'";

/** Most timers of a drain that are taken together. */
const TOGETHER_MAX = 500;

/** Removes timers that still have this due time: handling a timer may have moved it. Timers locked by a reaction are left to it. */
const takeTimers = async (db: Sql, timers: readonly Timer[]): Promise<readonly Timer[]> => {
  const { rows } = await db.query<Row>(
    `WITH free AS (
       SELECT i.kind, i.key FROM operations.timers i JOIN unnest($1::text[], $2::text[], $3::timestamptz[]) AS v(kind, key, due_at)
         ON i.kind = v.kind AND i.key = v.key AND i.due_at = v.due_at FOR UPDATE OF i SKIP LOCKED)
     DELETE FROM operations.timers t USING free WHERE t.kind = free.kind AND t.key = free.key RETURNING ${COLUMNS}`,
    [timers.map((timer) => timer.kind), timers.map((timer) => timer.key), timers.map((timer) => timer.dueAt)],
  );
  return rows.map(fromRow);
};

export const testTimers = (db: SqlPool, jobs: JobQueue, { jobOf, versions }: TimerKinds): TestTimers => ({
  advance: async (account, seconds, until, tx) => {
    await tx.query(
      `INSERT INTO operations.test_clocks AS c (account_id, offset_seconds, draining, drain_until) VALUES ($1, $2, true, $3)
       ON CONFLICT (account_id) DO UPDATE SET offset_seconds = c.offset_seconds + excluded.offset_seconds, draining = true,
         drain_until = excluded.drain_until`,
      [account, seconds, until],
    );
  },
  drainsUntil: async (account) => {
    const { rows } = await db.query<{ until_ms: number }>(
      `SELECT (extract(epoch FROM drain_until) * 1000)::bigint AS until_ms FROM operations.test_clocks WHERE account_id = $1 AND draining`,
      [account],
    );
    return rows[0] ? fromMillis(rows[0].until_ms) : null;
  },
  draining: async () => {
    const { rows } = await db.query<{ account_id: AccountId }>(
      'SELECT account_id FROM operations.test_clocks WHERE draining ORDER BY account_id',
    );
    return rows.map(({ account_id: accountId }) => accountId);
  },
  areFiring: async (account) => {
    const { rowCount } = await db.query(`SELECT ${FIRING} LIMIT 1`, [account]);
    if (rowCount === 0) return false;
    await fireNextPage(db);
    return true;
  },
  ofGroups: async (account, until, groups) => {
    if (groups.length === 0) return [];
    const { rows } = await db.query<Row>(
      `SELECT ${COLUMNS} FROM operations.timers t
       WHERE t.account_id = $1 AND t.mode = 'test' AND t.due_at <= $2 AND t.group_id = ANY($3::text[])
         AND ${isKnown('t', '$5')} ORDER BY t.due_at LIMIT $4`,
      [account, until, groups, TOGETHER_MAX, versions],
    );
    return rows.map(fromRow);
  },
  earliest: async (account, until: Timestamp) => {
    const { rows } = await db.query<Row>(
      `SELECT ${COLUMNS} FROM operations.timers t WHERE t.account_id = $1 AND t.mode = 'test' AND t.due_at <= $2 AND ${isKnown('t', '$3')} AND t.due_at =
         (SELECT min(i.due_at) FROM operations.timers i WHERE i.account_id = $1 AND i.mode = 'test' AND ${isKnown('i', '$3')})
       LIMIT ${TOGETHER_MAX}`,
      [account, until, versions],
    );
    return rows.map(fromRow);
  },
  done: async (timers) => void (await takeTimers(db, timers)),
  send: async (timers) => {
    await db.transaction(async (tx) => {
      const requests = (await takeTimers(tx, timers)).map(jobOf);
      if (requests.length > 0) await jobs.enqueue(requests, tx);
    });
  },
  drained: async (account, until) => {
    const { rowCount } = await db.query(
      `UPDATE operations.test_clocks SET draining = false WHERE account_id = $1 AND drain_until <= $2
         AND NOT EXISTS (SELECT ${FIRING})`,
      [account, until],
    );
    return rowCount === 1;
  },
});
