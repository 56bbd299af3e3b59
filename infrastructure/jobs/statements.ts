// All of Quita's statements on pg-boss's tables; a test runs each of them against the installed schema. pg-boss creates the tables, keeps
// the queues' options and deletes old jobs. Quita writes, claims and ends jobs itself, because a claim must share places between tenants,
// and one round trip must write a batch's jobs, what is owed, and the notice.
//
// Columns of pg-boss: `group_id` is the tenant (tenantKey), `group_tier` the target ('' for none), `data` is {"payloads": [object, …]},
// `retry_count` is the attempt. Every claim of a job increments it, so it identifies the claim. Both texts compare by bytes.
import { asTimestamp } from '../../application/ports/sql.ts';
import { JOBS_SCHEMA } from './schema.ts';

const JOB = `${JOBS_SCHEMA}.job`;
const TENANT = 'j.group_id COLLATE "C"';
const TARGET = 'j.group_tier COLLATE "C"';

/** Waiting jobs by tenant, target and due time: due jobs come before deferred ones. */
export const LINES_INDEX = 'quita_lines';
export const CREATE_LINES_INDEX = `CREATE INDEX IF NOT EXISTS ${LINES_INDEX} ON ${JOB}
  (name, group_id COLLATE "C", group_tier COLLATE "C", start_after) WHERE state < 'active'`;

/**
 * $1 queues, $2 tenants, $3 targets, $4 JSON arrays of payloads, $5 channel, $6 notice, $7 queues whose owed work is recorded only in
 * operations.owed, until it is done.
 */
export const INSERT = {
  name: 'jobs_insert',
  text: `WITH given AS MATERIALIZED (
      SELECT g.queue, g.tenant, g.target, g.payloads::jsonb AS payloads
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS g (queue, tenant, target, payloads)),
    inserted AS (
      INSERT INTO ${JOB} (name, data, group_id, group_tier, policy, expire_seconds, deletion_seconds, keep_until,
        retry_limit, retry_delay, retry_backoff, retry_delay_max)
      SELECT q.name, jsonb_build_object('payloads', g.payloads), g.tenant, g.target, q.policy, q.expire_seconds, q.deletion_seconds,
        now() + q.retention_seconds * interval '1 s', q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max
      FROM given g JOIN ${JOBS_SCHEMA}.queue q ON q.name = g.queue),
    owed AS (
      INSERT INTO operations.owed (queue, payload, tenant)
      SELECT g.queue, i.payload::text, g.tenant FROM given g CROSS JOIN LATERAL jsonb_array_elements(g.payloads) AS i (payload)
      WHERE g.queue = ANY ($7::text[]) ON CONFLICT DO NOTHING)
    SELECT pg_notify($5, $6)`,
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

/** `before`: common table expressions that run first, in the same statement. */
const claim = (before: string): string => `WITH RECURSIVE${before}
    tenant_room AS (SELECT * FROM unnest($6::text[], $7::int[], $8::int[]) AS t (tenant, held, room)),
    target_room AS (SELECT * FROM unnest($10::text[], $11::text[], $12::int[]) AS t (tenant, target, room)),
    line (tenant, target, room) AS (
      (SELECT j.group_id, j.group_tier, (SELECT t.room FROM tenant_room t WHERE t.tenant = j.group_id) FROM ${JOB} j
       WHERE j.name = $1 AND j.state < 'active' AND ${TENANT} >= $2 AND ${TENANT} < $3
       ORDER BY ${TENANT}, ${TARGET} LIMIT 1)
      UNION ALL
      SELECT next.group_id, next.group_tier, (SELECT t.room FROM tenant_room t WHERE t.tenant = next.group_id)
      FROM line l CROSS JOIN LATERAL (
        SELECT j.group_id, j.group_tier FROM ${JOB} j
        WHERE j.name = $1 AND j.state < 'active' AND ${TENANT} < $3
          AND (${TENANT}, ${TARGET}) > (l.tenant, CASE WHEN l.room = 0 THEN U&'\\+10FFFF' ELSE l.target END)
        ORDER BY ${TENANT}, ${TARGET} LIMIT 1) next),
    ready AS (
      SELECT l.tenant, l.room, due.id, due.start_after FROM line l
      LEFT JOIN target_room t ON t.tenant = l.tenant AND t.target = l.target
      CROSS JOIN LATERAL (
        SELECT j.id, j.start_after FROM ${JOB} j
        WHERE j.name = $1 AND j.state < 'active' AND ${TENANT} = l.tenant AND ${TARGET} = l.target AND j.start_after <= now()
        ORDER BY j.start_after LIMIT least(coalesce(t.room, $9), coalesce(l.room, $5))) due
      WHERE l.room IS DISTINCT FROM 0),
    ranked AS (
      SELECT id, tenant, coalesce(room, $5) AS room, start_after, row_number() OVER (PARTITION BY tenant ORDER BY start_after) AS rank
      FROM ready),
    chosen AS MATERIALIZED (
      SELECT r.id FROM ranked r LEFT JOIN tenant_room t ON t.tenant = r.tenant
      WHERE r.rank <= r.room ORDER BY r.rank + coalesce(t.held, 0), r.start_after LIMIT $4),
    mine AS MATERIALIZED (
      SELECT j.id FROM ${JOB} j WHERE j.name = $1 AND j.id = ANY (ARRAY(SELECT id FROM chosen)) AND j.state < 'active' FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE ${JOB} j SET state = 'active', started_on = now(), heartbeat_on = now(),
        retry_count = CASE WHEN j.started_on IS NULL THEN j.retry_count ELSE j.retry_count + 1 END
      WHERE j.name = $1 AND j.id = ANY (ARRAY(SELECT id FROM mine))
      RETURNING j.id, j.data->'payloads' AS payloads, j.group_id, j.group_tier, j.retry_count, j.start_after)
    SELECT h.id, c.payloads, c.group_id AS tenant, c.group_tier AS target, c.retry_count AS attempt
    FROM chosen h LEFT JOIN claimed c ON c.id = h.id ORDER BY c.start_after`;

/**
 * Claims at most $4 jobs of the queue $1 whose tenant is in [$2, $3). Each tenant gets at most its room ($6 tenants, $7 places they hold,
 * $8 rooms; $5 for tenants that hold none), each target at most its room ($10 tenants, $11 targets, $12 rooms; else $9). The next place
 * goes to the tenant that holds the fewest, then to the job that has waited longest; within a tenant the oldest come first. Jobs of a
 * tenant or target without room are not read. A row without payloads was claimed by another worker in the meantime.
 */
export const CLAIM = { name: 'jobs_claim', text: claim('') };
/** Also ends the claims $13 with the attempts $14: one round trip and one transaction for both. */
export const CLAIM_AFTER_DONE = {
  name: 'jobs_claim_after_done',
  text: claim(` done AS (${deleted(claimed('$13', '$14'))}),`),
};
export const CLAIM_AFTER_DONE_OWED = {
  name: 'jobs_claim_after_done_owed',
  text: claim(` done AS (${deleted(claimed('$13', '$14'))} RETURNING j.data), not_owed AS (${notOwedByDone}),`),
};

/** $1 lanes, with each lane's queue $2 and the bounds $3 and $4 of its tenants: returns the lanes in which a job is due. */
export const DUE_LANES = {
  name: 'jobs_due_lanes',
  text: `SELECT l.lane FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS l (lane, queue, first, below)
    WHERE EXISTS (SELECT FROM ${JOB} j WHERE j.name = l.queue AND j.state < 'active' AND ${TENANT} >= l.first AND ${TENANT} < l.below
      AND j.start_after <= now())`,
};

/** Reopens claims that have not begun, as if they had never been claimed. */
export const RELEASE = `UPDATE ${JOB} j SET state = CASE WHEN j.retry_count > 0 THEN 'retry' ELSE 'created' END::${JOBS_SCHEMA}.job_state, started_on = NULL FROM ${CLAIMED}`;

/** $4 milliseconds until the job may be claimed again, $5 why: puts claims back as if they had never been claimed. */
export const PUT_BACK = `UPDATE ${JOB} j SET state = CASE WHEN j.retry_count > 0 THEN 'retry' ELSE 'created' END::${JOBS_SCHEMA}.job_state, started_on = NULL,
    start_after = now() + $4 * interval '1 ms', output = $5::jsonb FROM ${CLAIMED}`;

/** $1 queue, $2 id, $3 attempt, $4 JSON array of the remaining payloads, $5 failures, $6 whether a retry would be pointless. */
export const FAIL = {
  name: 'jobs_fail',
  text: `UPDATE ${JOB} j SET
      state = CASE WHEN j.retry_count < j.retry_limit AND NOT $6 THEN 'retry' ELSE 'failed' END::${JOBS_SCHEMA}.job_state,
      start_after = now() + least(j.retry_delay_max, greatest(j.retry_delay, 1) * 2 ^ least(16, j.retry_count) * (1 + random())) * interval '1 s',
      completed_on = CASE WHEN j.retry_count < j.retry_limit AND NOT $6 THEN NULL ELSE now() END,
      data = jsonb_build_object('payloads', $4::jsonb), output = $5::jsonb
    WHERE j.name = $1 AND j.id = $2 AND j.retry_count = $3 AND j.state = 'active' RETURNING j.state`,
};
/** $1 queue, $2 payloads of a failed job that were done. */
export const NOT_OWED = `DELETE FROM operations.owed o WHERE ${isOwed('SELECT q::jsonb::text AS payload FROM unnest($2::text[]) AS q')}`;

/** $1 queue, $2 age in milliseconds, $3 and $4 end of the previous page, $5 limit; the oldest first. */
export const OWED_PAGE = `SELECT payload, tenant, since::text AS since FROM operations.owed
  WHERE queue = $1 AND since < now() - $2 * interval '1 ms' AND (since, payload) > ($3::timestamptz, $4) ORDER BY since, payload LIMIT $5`;

/** $1 queues. Only for use while no other worker is alive. */
export const RELEASE_ALL = `UPDATE ${JOB} SET state = 'retry', start_after = now() WHERE state = 'active' AND name = ANY ($1::text[])`;

/** $1 ids, $2 attempts, $3 queues: marks these claims as alive and returns the time. A locked row is skipped: its job is about to end. */
export const TOUCH = `WITH touched AS (UPDATE ${JOB} SET heartbeat_on = now() WHERE (name, id) IN (
  SELECT j.name, j.id FROM ${JOB} j JOIN unnest($1::uuid[], $2::int[]) AS c (id, attempt) ON c.id = j.id AND c.attempt = j.retry_count
  WHERE j.name = ANY ($3::text[]) AND j.state = 'active' FOR UPDATE OF j SKIP LOCKED)) SELECT now()::text AS at`;

/**
 * $1 queues, $2 milliseconds without a touch, up to $3, after which a worker is dead: reopens its claims. The first retry is immediate.
 * A job that kills its workers is retried with growing delays, and fails permanently like one that throws.
 */
export const REOPEN_EXPIRED = `UPDATE ${JOB} SET
    state = CASE WHEN retry_count < retry_limit THEN 'retry' ELSE 'failed' END::${JOBS_SCHEMA}.job_state,
    start_after = now() + least(retry_delay_max, 2 ^ least(retry_count, 16) - 1) * interval '1 s',
    completed_on = CASE WHEN retry_count < retry_limit THEN NULL ELSE now() END,
    output = '{"message":"its worker died"}'
  WHERE (name, id) IN (
    SELECT name, id FROM ${JOB}
    WHERE name = ANY ($1::text[]) AND state = 'active' AND heartbeat_on < $3::timestamptz - $2 * interval '1 ms' FOR UPDATE SKIP LOCKED)
  RETURNING name, group_id AS tenant`;

const COUNT_PAYLOADS = `SELECT coalesce(sum(jsonb_array_length(data->'payloads')), 0) AS open FROM ${JOB}`;
/** $1 queue, $2 tenant or null. */
export const COUNT_OPEN = `${COUNT_PAYLOADS} WHERE name = $1 AND state < 'completed' AND ($2::text IS NULL OR group_id = $2)`;
/** $1 queues, $2 tenant. */
export const COUNT_UNDER_WAY = `${COUNT_PAYLOADS} WHERE name = ANY ($1::text[]) AND group_id = $2 AND (state = 'active' OR state < 'active' AND start_after <= now())`;
/** $1 queue. */
export const OPEN_PAYLOADS = `SELECT i.payload FROM ${JOB} j CROSS JOIN LATERAL jsonb_array_elements(j.data->'payloads') AS i (payload) WHERE j.name = $1 AND j.state < 'completed'`;

/** $1 queue: payloads of jobs that run now, in any process. */
export const RUNNING_PAYLOADS = {
  name: 'jobs_running_payloads',
  text: `SELECT i.payload FROM ${JOB} j CROSS JOIN LATERAL jsonb_array_elements(j.data->'payloads') AS i (payload) WHERE j.name = $1 AND j.state = 'active'`,
};

const REOPENED = `state = 'retry', start_after = now(), completed_on = NULL, keep_until = now() + q.retention_seconds * interval '1 s',
  retry_limit = j.retry_count + q.retry_limit FROM ${JOBS_SCHEMA}.queue q WHERE q.name = j.name AND j.state = 'failed'`;
/** $1 queue. */
export const FAILED_PAYLOADS = `SELECT id, data->'payloads' AS payloads FROM ${JOB} WHERE name = $1 AND state = 'failed'`;
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

export const FIND_INSTALLED = `SELECT to_regclass('${JOBS_SCHEMA}.version') IS NOT NULL AS installed, to_regclass('${JOBS_SCHEMA}.${LINES_INDEX}') IS NOT NULL AS indexed`;
export const SCHEMA_VERSION = `SELECT version FROM ${JOBS_SCHEMA}.version`;
