// All of Quita's statements on pg-boss's tables; a test runs each of them against the installed schema. pg-boss creates the tables, keeps
// the queues' options and deletes old jobs. Quita writes, claims and ends jobs itself, because a claim must share places between tenants,
// and one round trip must write a batch's jobs, the owed work, and the notice.
//
// Columns of pg-boss: `group_id` is the tenant (tenantKey), `group_tier` the target ('' for none), `data` is {"payloads": [object, …]},
// `retry_count` is the attempt. Every claim of a job increments it, so it identifies the claim. Both texts compare by bytes. A job in
// state `created` may be claimed; one in `retry` waits for `start_after`, then becomes `created` (READY_LANES). Claims therefore never
// read jobs that are not due.
import { asTimestamp } from '../../application/ports/sql.ts';
import { JOBS_SCHEMA } from './schema.ts';

const JOB = `${JOBS_SCHEMA}.job`;
const TENANT = 'j.group_id COLLATE "C"';
const TARGET = 'j.group_tier COLLATE "C"';

/** The newest of the indexes; present if all are. */
export const NEWEST_INDEX = 'quita_failed';
/**
 * An index of rare rows is small. The first two differ in their conditions, so that without statistics, too, no statement is planned with
 * the wrong one; every job has priority 0 and a target.
 */
export const CREATE_INDEXES = `
  CREATE INDEX IF NOT EXISTS quita_ready ON ${JOB} (name, group_id COLLATE "C", start_after) WHERE state = 'created' AND priority = 0;
  CREATE INDEX IF NOT EXISTS quita_ready_lines ON ${JOB} (name, group_id COLLATE "C", group_tier COLLATE "C", start_after)
    WHERE state = 'created' AND group_tier IS NOT NULL;
  CREATE INDEX IF NOT EXISTS quita_deferred ON ${JOB} (start_after) WHERE state = 'retry';
  CREATE INDEX IF NOT EXISTS quita_deferred_lines ON ${JOB} (name, group_id COLLATE "C") WHERE state = 'retry';
  CREATE INDEX IF NOT EXISTS ${NEWEST_INDEX} ON ${JOB} (name, completed_on) WHERE state = 'failed'`;
/** It served claims of earlier versions, which read deferred jobs, too. Left in place, it only makes writes a little slower. */
const OLD_INDEX = `${JOBS_SCHEMA}.quita_lines`;
export const DROP_OLD_INDEX = `DROP INDEX IF EXISTS ${OLD_INDEX}`;

/**
 * $1 queues, $2 tenants, $3 targets, $4 JSON arrays of payloads, $5 channel, $6 notice or null, $7 queues whose owed work is only recorded
 * in operations.owed, until it is done. $8 ids, $9 states: `active` for a job that this process claims with it. Returns the claimed ids.
 */
export const INSERT = {
  name: 'jobs_insert',
  text: `WITH given AS MATERIALIZED (
      SELECT g.queue, g.tenant, g.target, g.payloads::jsonb AS payloads, g.id::uuid AS id, g.state::${JOBS_SCHEMA}.job_state AS state,
        CASE g.state WHEN 'active' THEN clock_timestamp() END AS claimed_on
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $8::text[], $9::text[]) AS g (queue, tenant, target, payloads, id, state)
    ),
    inserted AS (
      INSERT INTO ${JOB} (id, name, data, group_id, group_tier, state, started_on, heartbeat_on, policy, expire_seconds, deletion_seconds,
        keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max)
      SELECT g.id, q.name, jsonb_build_object('payloads', g.payloads), g.tenant, g.target, g.state, g.claimed_on, g.claimed_on, q.policy,
        q.expire_seconds, q.deletion_seconds, now() + q.retention_seconds * interval '1 s', q.retry_limit, q.retry_delay, q.retry_backoff,
        q.retry_delay_max
      FROM given g JOIN ${JOBS_SCHEMA}.queue q ON q.name = g.queue
      RETURNING id, state),
    owed AS (
      INSERT INTO operations.owed (queue, payload, tenant)
      SELECT g.queue, i.payload::text, g.tenant FROM given g CROSS JOIN LATERAL jsonb_array_elements(g.payloads) AS i (payload)
      WHERE g.queue = ANY ($7::text[]) ON CONFLICT DO NOTHING)
    SELECT coalesce(array_agg(i.id::text) FILTER (WHERE i.state = 'active'), '{}') AS claimed,
      (SELECT pg_notify($5, $6::text) WHERE $6::text IS NOT NULL) FROM inserted i`,
};

const claimed = (ids: string, attempts: string): string =>
  `unnest(${ids}::uuid[], ${attempts}::int[]) AS c (id, attempt) WHERE j.name = $1 AND j.id = c.id AND j.retry_count = c.attempt AND j.state = 'active'`;
const CLAIMED = claimed('$2', '$3');

/** Finds the owed payloads of queue $1 by the index of hashes, then by their text. `payloads` selects them as the text of their jsonb. */
const isOwed = (payloads: string): string =>
  `hashtextextended(o.queue || o.payload, 0) = ANY (ARRAY(SELECT hashtextextended($1::text || p.payload, 0) FROM (${payloads}) p))
   AND o.queue = $1 AND o.payload = ANY (ARRAY(${payloads}))`;

const deleted = (which: string): string => `DELETE FROM ${JOB} j USING ${which}`;
const notOwedByDone = `DELETE FROM operations.owed o WHERE ${isOwed(`
      SELECT i.payload::text AS payload FROM done d CROSS JOIN LATERAL jsonb_array_elements(d.data->'payloads') AS i (payload)`)}`;

/** $1 queue, $2 ids, $3 attempts: ends these claims if they still hold. A worker that lost its claim can't end another worker's. */
export const DONE = { name: 'jobs_done', text: deleted(CLAIMED) };
export const DONE_OWED = {
  name: 'jobs_done_owed',
  text: `WITH done AS (${deleted(CLAIMED)} RETURNING j.data)
    ${notOwedByDone}`,
};

const READY = `j.name = $1 AND j.state = 'created'`;
const OF_TENANT = `${READY} AND j.priority = 0 AND ${TENANT}`;

/** `before`: common table expressions that run first, in the same statement. */
const claim = (before: string): string => `WITH RECURSIVE${before}
    tenant_room AS (SELECT * FROM unnest($6::text[], $7::int[], $8::int[], $13::text[]) AS t (tenant, held, room, latest)),
    target_room AS (SELECT * FROM unnest($10::text[], $11::text[], $12::int[]) AS t (tenant, target, room)),
    walk (tenant, idle) AS (
      SELECT $2::text, 0
      UNION ALL
      SELECT next.tenant, w.idle + CASE WHEN EXISTS (SELECT FROM tenant_room t WHERE t.tenant = next.tenant) THEN 0 ELSE 1 END
      FROM walk w CROSS JOIN LATERAL (
        SELECT j.group_id AS tenant FROM ${JOB} j WHERE ${OF_TENANT} > w.tenant AND ${TENANT} < $3 ORDER BY ${TENANT} LIMIT 1) next
      WHERE w.idle < $4),
    visited AS MATERIALIZED (
      SELECT w.tenant, coalesce(t.held, 0) AS held, coalesce(t.latest, '') AS latest,
        least(coalesce(t.room, $5), $4 - max(w.idle) OVER () + CASE WHEN t.tenant IS NULL THEN 1 ELSE 0 END) AS room
      FROM walk w LEFT JOIN tenant_room t ON t.tenant = w.tenant WHERE w.tenant <> $2),
    oldest AS MATERIALIZED (
      SELECT v.tenant, v.held, v.room, v.latest, j.target, j.id, j.start_after, coalesce(t.room, $9) AS target_room,
        row_number() OVER (PARTITION BY v.tenant, j.target ORDER BY j.start_after) AS nth
      FROM visited v CROSS JOIN LATERAL (
        SELECT j.id, j.group_tier AS target, j.start_after FROM ${JOB} j WHERE ${OF_TENANT} = v.tenant
        ORDER BY ${TENANT}, j.start_after LIMIT v.room) j
      LEFT JOIN target_room t ON t.tenant = v.tenant AND t.target = j.target),
    blocked AS (
      SELECT tenant, held, room, latest FROM oldest GROUP BY tenant, held, room, latest
      HAVING count(*) = room AND count(*) FILTER (WHERE nth <= target_room) < room),
    line (tenant, held, room, latest, target, lap, found) AS (
      SELECT tenant, held, room, latest, latest, CASE WHEN latest = '' THEN 1 ELSE 0 END, 0 FROM blocked
      UNION ALL
      SELECT l.tenant, l.held, l.room, l.latest, next.target, next.lap, l.found + CASE WHEN
        EXISTS (SELECT FROM target_room t WHERE t.tenant = l.tenant AND t.target = next.target AND t.room = 0) THEN 0 ELSE 1 END
      FROM line l CROSS JOIN LATERAL (
        (SELECT j.group_tier AS target, l.lap FROM ${JOB} j WHERE ${READY} AND ${TENANT} = l.tenant AND ${TARGET} > l.target
           AND (l.lap = 0 OR l.latest = '' OR ${TARGET} <= l.latest) ORDER BY ${TENANT}, ${TARGET} LIMIT 1)
        UNION ALL SELECT '', 1 WHERE l.lap = 0 LIMIT 1) next
      WHERE l.found < l.room),
    ready AS (
      SELECT tenant, held, room, target, id, start_after, target_room FROM oldest
      UNION
      SELECT l.tenant, l.held, l.room, l.target, j.id, j.start_after, coalesce(t.room, $9)
      FROM (SELECT DISTINCT tenant, held, room, target FROM line) l LEFT JOIN target_room t ON t.tenant = l.tenant AND t.target = l.target
      CROSS JOIN LATERAL (
        SELECT j.id, j.start_after FROM ${JOB} j WHERE ${READY} AND ${TENANT} = l.tenant AND ${TARGET} = l.target
        ORDER BY ${TENANT}, ${TARGET}, j.start_after LIMIT least(coalesce(t.room, $9), l.room)) j),
    ranked AS (
      SELECT tenant, held, room, id, start_after, row_number() OVER (PARTITION BY tenant ORDER BY start_after) AS rank
      FROM (SELECT *, row_number() OVER (PARTITION BY tenant, target ORDER BY start_after) AS nth FROM ready) r WHERE nth <= target_room),
    chosen AS MATERIALIZED (
      SELECT id, tenant FROM ranked WHERE rank <= room ORDER BY rank + held, start_after LIMIT $4),
    mine AS MATERIALIZED (
      SELECT j.id FROM ${JOB} j WHERE j.name = $1 AND j.id = ANY (ARRAY(SELECT id FROM chosen)) AND j.state::text = 'created'
      FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE ${JOB} j SET state = 'active', started_on = now(), heartbeat_on = now(),
        retry_count = CASE WHEN j.started_on IS NULL THEN j.retry_count ELSE j.retry_count + 1 END
      WHERE j.name = $1 AND j.id = ANY (ARRAY(SELECT id FROM mine))
      RETURNING j.id, j.data->'payloads' AS payloads, j.group_tier, j.retry_count, j.start_after)
    SELECT h.id, c.payloads, h.tenant, c.group_tier AS target, c.retry_count AS attempt, (SELECT max(idle) FROM walk) >= $4 AS "isPart"
    FROM chosen h LEFT JOIN claimed c ON c.id = h.id ORDER BY c.start_after`;

/**
 * Claims at most $4 jobs of the queue $1 whose tenant is in ($2, $3), bounds excluded. Each tenant gets at most its room ($6 tenants, $7
 * places they hold, $8 rooms, $13 the target of its latest claim; $5 for tenants that hold none), each target at most its room ($10
 * tenants, $11 targets, $12 rooms; else $9). The next place goes to the tenant that holds the fewest, then to the job that has waited
 * longest; within a tenant the oldest come first.
 *
 * A claim reads only jobs that it may take, however many wait. The walk over tenants ends after $4 tenants that hold no place, because each
 * of them gets one; `isPart` then means that the next claim must continue after them. Of each tenant the oldest jobs are read. Only if
 * targets without room block them, its other targets are read in turn, after that of its latest claim. A row without payloads was claimed
 * by another worker in the meantime. Chosen jobs are found by id: the cast of their state keeps a plan from using an index of lines.
 */
export const CLAIM = { name: 'jobs_claim', text: claim('') };
/** Also ends the claims $14 with the attempts $15: one round trip and one transaction for both. */
export const CLAIM_AFTER_DONE = {
  name: 'jobs_claim_after_done',
  text: claim(` done AS (${deleted(claimed('$14', '$15'))}),`),
};
export const CLAIM_AFTER_DONE_OWED = {
  name: 'jobs_claim_after_done_owed',
  text: claim(` done AS (${deleted(claimed('$14', '$15'))} RETURNING j.data), not_owed AS (${notOwedByDone}),`),
};

/**
 * $1 lanes, with each lane's queue $2 and the bounds $3 and $4 of its tenants. Makes at most $5 deferred jobs ready whose time has come,
 * the earliest first. Returns the lanes with ready jobs, and how many jobs became ready.
 */
export const READY_LANES = {
  name: 'jobs_ready_lanes',
  text: `WITH due AS MATERIALIZED (
      SELECT j.name, j.id FROM ${JOB} j WHERE j.state = 'retry' AND j.start_after <= now() ORDER BY j.start_after LIMIT $5 FOR UPDATE SKIP LOCKED),
    readied AS (
      UPDATE ${JOB} j SET state = 'created' WHERE (j.name, j.id) IN (SELECT name, id FROM due) RETURNING j.name, j.group_id)
    SELECT l.lane, (SELECT count(*) FROM readied)::int AS readied
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS l (lane, queue, first, below)
    WHERE EXISTS (SELECT FROM ${JOB} j WHERE j.name = l.queue AND j.state = 'created' AND j.priority = 0 AND ${TENANT} >= l.first AND ${TENANT} < l.below)
      OR EXISTS (SELECT FROM readied j WHERE j.name = l.queue AND ${TENANT} >= l.first AND ${TENANT} < l.below)`,
};

/** The claim of the job $2 of the queue $1 with the attempt $3. */
const ONE_CLAIM = "j.name = $1 AND j.id = $2 AND j.retry_count = $3 AND j.state = 'active'";

/** Reopens claims that have not begun, as if they had never been claimed. */
export const RELEASE = `UPDATE ${JOB} j SET state = 'created', started_on = NULL FROM ${CLAIMED}`;
/** $1 queue, $2 id, $3 attempt, $4 JSON array of the payloads that have not begun: the same for a job of which the others are done. */
export const RELEASE_REST = `UPDATE ${JOB} j SET state = 'created', started_on = NULL, data = jsonb_build_object('payloads', $4::jsonb)
  WHERE ${ONE_CLAIM}`;

/**
 * $4 milliseconds, $5 why: puts claims back as if they had never been claimed. They may be claimed again after once to twice that time, or
 * a tenth of their age, up to a minute. After a rollback, many may wait for days, and would keep the workers busy.
 */
export const PUT_BACK = `UPDATE ${JOB} j SET state = 'retry', started_on = NULL, output = $5::jsonb, start_after = now() + (1 + random())
    * greatest($4 * interval '1 ms', least((now() - j.created_on) / 10, interval '1 min')) FROM ${CLAIMED}`;

/** $1 queue, $2 id, $3 attempt, $4 JSON array of the remaining payloads, $5 failures, $6 whether a retry would be pointless. */
export const FAIL = {
  name: 'jobs_fail',
  text: `UPDATE ${JOB} j SET
      state = CASE WHEN j.retry_count < j.retry_limit AND NOT $6 THEN 'retry' ELSE 'failed' END::${JOBS_SCHEMA}.job_state,
      start_after = now() + least(j.retry_delay_max, greatest(j.retry_delay, 1) * 2 ^ least(16, j.retry_count) * (1 + random())) * interval '1 s',
      completed_on = CASE WHEN j.retry_count < j.retry_limit AND NOT $6 THEN NULL ELSE now() END,
      data = jsonb_build_object('payloads', $4::jsonb), output = $5::jsonb
    WHERE ${ONE_CLAIM} RETURNING j.state`,
};
/** $1 queue, $2 payloads of a failed job that were done. */
export const NOT_OWED = `DELETE FROM operations.owed o WHERE ${isOwed('SELECT q::jsonb::text AS payload FROM unnest($2::text[]) AS q')}`;

/** $1 queue, $2 age in milliseconds, $3 and $4 end of the previous page, $5 limit; the oldest first. */
export const OWED_PAGE = `SELECT payload, tenant, since::text AS since FROM operations.owed
  WHERE queue = $1 AND since < now() - $2 * interval '1 ms' AND (since, payload) > ($3::timestamptz, $4) ORDER BY since, payload LIMIT $5`;

/** Running jobs `j`, in the words of pg-boss's index of them. */
const ACTIVE = `j.state = 'active' AND j.group_id IS NOT NULL`;

/** $1 queues. Only for use while no other worker is alive. */
export const RELEASE_ALL = `UPDATE ${JOB} j SET state = 'created', start_after = now() WHERE ${ACTIVE} AND j.name = ANY ($1::text[])`;

/** After a restore: open jobs start anew, as retries, because they may have been done before. */
export const RETRY_ALL = `UPDATE ${JOB} SET state = 'retry', retry_count = greatest(retry_count, 1), start_after = now() WHERE state <= 'active'`;

/** $1 ids, $2 attempts, $3 queues: marks these claims as alive and returns the time. A locked row is skipped: its job is about to end. */
export const TOUCH = `WITH touched AS (UPDATE ${JOB} SET heartbeat_on = now() WHERE (name, id) IN (
  SELECT j.name, j.id FROM ${JOB} j JOIN unnest($1::uuid[], $2::int[]) AS c (id, attempt) ON c.id = j.id AND c.attempt = j.retry_count
  WHERE j.name = ANY ($3::text[]) AND j.state = 'active' FOR UPDATE OF j SKIP LOCKED)) SELECT now()::text AS at`;

/**
 * $1 queues, $2 milliseconds without a touch, up to $3, after which a worker is dead: reopens its claims. The first retry is immediate.
 * A job that kills its workers is retried with growing delays, and fails permanently like one that throws.
 */
export const REOPEN_EXPIRED = `UPDATE ${JOB} SET
    state = CASE WHEN retry_count >= retry_limit THEN 'failed' WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${JOBS_SCHEMA}.job_state,
    start_after = now() + least(retry_delay_max, 2 ^ least(retry_count, 16) - 1) * interval '1 s',
    completed_on = CASE WHEN retry_count < retry_limit THEN NULL ELSE now() END,
    output = '{"message":"its worker died"}'
  WHERE (name, id) IN (
    SELECT j.name, j.id FROM ${JOB} j
    WHERE j.name = ANY ($1::text[]) AND ${ACTIVE} AND j.heartbeat_on < $3::timestamptz - $2 * interval '1 ms' FOR UPDATE SKIP LOCKED)
  RETURNING name, group_id AS tenant`;

/** Counts of jobs stop here, so that a count costs the same however many wait. */
const COUNTED_MAX = 10_000;
const everyPayload = (jobs: string): string =>
  `(SELECT j.data->'payloads' AS payloads FROM ${JOB} j WHERE ${jobs}) o CROSS JOIN LATERAL jsonb_array_elements(o.payloads) AS i (payload)`;
/** Selects the payloads of open jobs, by the index of each state. The order keeps a count of few jobs from being planned as a scan. */
const open = (which: string, limit: number | 'ALL'): string =>
  [`j.state = 'created' AND j.priority = 0`, `j.state = 'retry'`, ACTIVE]
    .map(
      (state) =>
        `(SELECT i.payload FROM ${everyPayload(`${which} AND ${state} ORDER BY j.name, ${TENANT} LIMIT ${limit}`)} LIMIT ${limit})`,
    )
    .join(' UNION ALL ');
const count = (payloads: string): string => `SELECT least(count(*), ${COUNTED_MAX})::int AS open FROM (${payloads}) p`;
/** $1 queue. */
export const COUNT_OPEN = count(open('j.name = $1', COUNTED_MAX));
/** $1 queue, $2 tenant. */
export const COUNT_OPEN_OF = count(open(`j.name = $1 AND ${TENANT} = $2`, COUNTED_MAX));
/** $1 queues, $2 tenant: payloads of jobs that run or may be claimed. */
export const COUNT_UNDER_WAY = count(
  open(`j.name = ANY ($1::text[]) AND ${TENANT} = $2 AND (j.state <> 'retry' OR j.start_after <= now())`, COUNTED_MAX),
);
/** $1 queue, $2 tenants. */
export const OPEN_PAYLOADS = open(`j.name = $1 AND ${TENANT} = ANY ($2::text[])`, 'ALL');

/** $1 queue, $2 tenant: payloads of jobs that run now, in any process. */
export const RUNNING_PAYLOADS = {
  name: 'jobs_running_payloads',
  text: `SELECT i.payload FROM ${everyPayload(`j.name = $1 AND ${TENANT} = $2 AND ${ACTIVE}`)}`,
};

/**
 * $1 queues, $2 seconds, $3 limit: deletes jobs that failed longer ago than this, and waiting jobs whose retention has passed. pg-boss
 * would read the whole table. Its index of waiting jobs begins with queue and priority.
 */
export const DELETE_OLD = `DELETE FROM ${JOB} WHERE (name, id) IN (
  (SELECT j.name, j.id FROM ${JOB} j WHERE j.name = ANY ($1::text[]) AND j.state = 'failed' AND j.completed_on < now() - $2 * interval '1 s' LIMIT $3)
  UNION ALL
  (SELECT j.name, j.id FROM unnest($1::text[]) AS q (name) CROSS JOIN LATERAL (
     SELECT j.name, j.id FROM ${JOB} j WHERE j.name = q.name AND j.priority = 0 AND j.created_on < now() - $2 * interval '1 s'
       AND j.state < 'active' AND NOT j.blocked AND j.keep_until < now() LIMIT $3) j))`;

const REOPENED = `state = 'created', start_after = now(), completed_on = NULL, keep_until = now() + q.retention_seconds * interval '1 s',
  retry_limit = j.retry_count + q.retry_limit FROM ${JOBS_SCHEMA}.queue q WHERE q.name = j.name AND j.state = 'failed'`;
/** $1 queue, $2 tenants. */
export const FAILED_PAYLOADS = `SELECT j.id, j.data->'payloads' AS payloads FROM ${JOB} j WHERE j.name = $1 AND ${TENANT} = ANY ($2::text[]) AND j.state = 'failed'`;
/** $1 ids or null, $2 queue or null: failed jobs get as many attempts as a new one. */
export const REOPEN = `UPDATE ${JOB} j SET ${REOPENED} AND ($1::uuid[] IS NULL OR j.id = ANY ($1)) AND ($2::text IS NULL OR j.name = $2)
  RETURNING j.id, j.name AS queue, j.group_id AS tenant, j.data->'payloads' AS payloads`;

/** $1 queue or null, $2 limit: jobs that failed permanently, wait for a retry or were put back, the newest failure first. */
export const LIST_FAILED = `SELECT id, name AS queue, group_id AS tenant, group_tier AS target, data->'payloads' AS payloads, retry_count + (output->'version' IS NULL)::int AS attempts,
    coalesce(output->>'message', '') AS error, coalesce(output->'failures', '[]') AS failures, CASE WHEN state = 'failed' THEN 'failed' WHEN output->'version' IS NULL THEN 'retry' ELSE 'awaits_upgrade' END AS state,
    ${asTimestamp('coalesce(completed_on, started_on, created_on)')} AS failed_at, CASE WHEN state < 'active' THEN ${asTimestamp('start_after')} END AS next_attempt_at,
    count(*) OVER () AS total
  FROM ${JOB} WHERE (state = 'failed' OR state < 'active' AND output IS NOT NULL) AND ($1::text IS NULL OR name = $1)
  ORDER BY (state = 'failed') DESC, coalesce(completed_on, started_on, created_on) DESC, id LIMIT $2`;

/** Jobs of each queue by state, each counted up to the limit, and since when the oldest one is ready. By the index of each state. */
export const QUEUE_STATES = `SELECT q.name AS queue, created.jobs AS ready, retry.jobs AS retry, active.jobs AS running, failed.jobs AS failed,
    ${asTimestamp('oldest.since')} AS "oldestAt"
  FROM ${JOBS_SCHEMA}.queue q
  ${[
    ['created', `j.state = 'created' AND j.priority = 0`],
    ['retry', `j.state = 'retry'`],
    ['active', ACTIVE],
    ['failed', `j.state = 'failed'`],
  ]
    .map(
      ([name, state]) => `CROSS JOIN LATERAL (SELECT count(*)::int AS jobs FROM (
    SELECT FROM ${JOB} j WHERE j.name = q.name AND ${state} LIMIT ${COUNTED_MAX}) counted) ${name}`,
    )
    .join('\n  ')}
  CROSS JOIN LATERAL (SELECT min(j.start_after) AS since FROM (
    SELECT j.start_after FROM ${JOB} j WHERE j.name = q.name AND j.state = 'created' AND j.priority = 0 LIMIT ${COUNTED_MAX}) j) oldest
  ORDER BY q.name`;

export const FIND_INSTALLED = `SELECT to_regclass('${JOBS_SCHEMA}.version') IS NOT NULL AS installed,
  to_regclass('${JOBS_SCHEMA}.${NEWEST_INDEX}') IS NOT NULL AS indexed, to_regclass('${OLD_INDEX}') IS NOT NULL AS outdated`;
export const SCHEMA_VERSION = `SELECT version FROM ${JOBS_SCHEMA}.version`;
