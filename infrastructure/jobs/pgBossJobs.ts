// The work queue on pg-boss. Jobs are written, claimed and retried by pg-boss; the loop that claims them is ours, because a worker
// must go on claiming while one slow endpoint is still being waited for, and because one wake-up a batch must wake one claim.
import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import {
  type JobHandler,
  type JobQueue,
  type JobRequest,
  QUEUES,
  type QueueName,
} from '../../application/ports/jobs.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { Notices } from '../postgres/notices.ts';
import { ClaimBeats } from './claimBeats.ts';
import { JobLoop } from './jobLoop.ts';
import { JOBS_SCHEMA } from './schema.ts';

const CHANNEL = 'quita_jobs';

/** Ids a job carries at most: one job must be over in well under `expireInSeconds`. */
const ITEMS_PER_JOB = 20;

/** Claims of a dead worker are open again after five of these at most: 12.5 s. */
const BEAT_MS = 2_500;

const QUEUE_OPTIONS = {
  // A job that hangs in a live worker is given to another one after this: longer than the longest attempt (30 s) and its record.
  expireInSeconds: 120,
  retryLimit: 30,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 120,
  // What failed for good stays visible for a month, for an operator to see and re-drive.
  retentionSeconds: 30 * 86_400,
};

interface JobData {
  readonly items: readonly string[];
}

export interface PgBossJobsOptions {
  /** Jobs are derived data: its sessions need not wait for the disk. */
  readonly pool: SqlPool;
  readonly notices: Notices;
  readonly onError: (error: Error, queue: string) => void;
  /** How often somebody looks for claims that hang, in seconds; default 30. */
  readonly superviseSeconds?: number;
  /** How often a worker says that it is alive, and looks for claims of those that died (ClaimBeats); default 2,500. */
  readonly beatMs?: number;
}

export class PgBossJobs implements JobQueue {
  readonly #boss: PgBoss;
  readonly #options: PgBossJobsOptions;
  readonly #loops = new Map<QueueName, JobLoop>();
  readonly #beats: ClaimBeats;
  readonly #settled = new Set<() => void>();
  /** Our own notices come back to us; we have woken our loops by then. */
  readonly #self = randomUUID();

  private constructor(options: PgBossJobsOptions) {
    this.#options = options;
    const { superviseSeconds = 30 } = options;
    this.#boss = new PgBoss({
      db: { executeSql: (text, values) => options.pool.query(text, values) },
      schema: JOBS_SCHEMA,
      schedule: false,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      maintenanceIntervalSeconds: 3600,
    });
    this.#boss.on('error', (error) => options.onError(error as Error, 'pg-boss'));
    this.#beats = new ClaimBeats({
      pool: options.pool,
      beatMs: options.beatMs ?? BEAT_MS,
      running: () => [...this.#loops.values()].flatMap(({ runningIds }) => runningIds),
      onOpened: async (queues) => {
        this.wake(queues);
        await this.#notify(queues, options.pool);
      },
      onError: (error) => options.onError(error, 'claims'),
    });
  }

  static async open(options: PgBossJobsOptions): Promise<PgBossJobs> {
    const jobs = new PgBossJobs(options);
    await jobs.#boss.start();
    const existing = new Set((await jobs.#boss.getQueues()).map(({ name }) => name));
    for (const queue of QUEUES) if (!existing.has(queue)) await jobs.#boss.createQueue(queue, QUEUE_OPTIONS);
    await options.notices.on(CHANNEL, (payload) => {
      const [from, queues] = payload.split(' ');
      if (from !== jobs.#self) jobs.wake((queues ? queues.split(',') : QUEUES) as QueueName[]);
    });
    return jobs;
  }

  /** Only while no other worker is alive: claims of killed ones are open again at once. */
  async releaseClaims(): Promise<void> {
    const text = `UPDATE ${JOBS_SCHEMA}.job SET state = 'retry', start_after = now() WHERE state = 'active' AND name = ANY($1::text[])`;
    await this.#options.pool.query(text, [QUEUES]);
  }

  async enqueue(requests: readonly JobRequest[], tx?: Sql): Promise<void> {
    const db: Sql = tx ?? this.#options.pool;
    const options = { db: { executeSql: (text: string, values?: unknown[]) => db.query(text, values) } };
    const queues = new Set(requests.map(({ queue }) => queue));
    for (const queue of queues) {
      const byGroup = Map.groupBy(
        requests.filter((request) => request.queue === queue),
        ({ group }) => group ?? null,
      );
      const jobs = [...byGroup].flatMap(([group, members]) =>
        chunks([...new Set(members.map(({ item }) => item))], ITEMS_PER_JOB).map((items) => ({
          data: { items },
          ...(group !== null && { group: { id: group } }),
        })),
      );
      await this.#boss.insert(queue, jobs, options);
    }
    await this.#notify(queues, db);
    if (!tx) this.wake(queues);
  }

  async #notify(queues: ReadonlySet<QueueName>, db: Sql): Promise<void> {
    await db.query('SELECT pg_notify($1, $2)', [CHANNEL, `${this.#self} ${[...queues].join(',')}`]);
  }

  wake(queues: Iterable<QueueName>): void {
    for (const queue of queues) this.#loops.get(queue)?.wake();
  }

  work(queue: QueueName, handler: JobHandler, limits: { concurrency: number; perGroup: number }): void {
    const claims = {
      claim: async (batchSize: number, ignoreGroups: readonly string[]) => {
        const options = { batchSize, ...(ignoreGroups.length > 0 && { ignoreGroups: [...ignoreGroups] }) };
        const jobs = await this.#boss.fetch<JobData>(queue, options);
        return jobs.map(({ id, data, groupId }) => ({ id, items: data.items, group: groupId ?? null }));
      },
      done: async (ids: readonly string[]) => void (await this.#boss.deleteJob(queue, [...ids])),
      failed: async (id: string, error: Error) => void (await this.#boss.fail(queue, id, { message: error.message })),
      release: async (ids: readonly string[]) => {
        const text = `UPDATE ${JOBS_SCHEMA}.job SET state = CASE WHEN retry_count > 0 THEN 'retry' ELSE 'created' END::${JOBS_SCHEMA}.job_state, started_on = NULL
          WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'`;
        await this.#options.pool.query(text, [queue, ids]);
      },
    };
    const loop = new JobLoop(claims, handler, limits, {
      onSettled: () => {
        for (const listener of this.#settled) listener();
      },
      onError: (error) => this.#options.onError(error, queue),
    });
    this.#loops.set(queue, loop);
    loop.start();
    this.#beats.start();
  }

  async open(queue: QueueName, group?: string): Promise<number> {
    const { rows } = await this.#options.pool.query<{ open: number }>(
      `SELECT coalesce(sum(jsonb_array_length(data->'items')), 0) AS open FROM ${JOBS_SCHEMA}.job WHERE name = $1 AND state < 'completed' AND ($2::text IS NULL OR group_id = $2)`,
      [queue, group ?? null],
    );
    return rows[0]?.open ?? 0;
  }

  async underWay(queues: readonly QueueName[], group: string): Promise<number> {
    const { rows } = await this.#options.pool.query<{ open: number }>(
      `SELECT coalesce(sum(jsonb_array_length(data->'items')), 0) AS open FROM ${JOBS_SCHEMA}.job
       WHERE name = ANY($1::text[]) AND group_id = $2 AND (state = 'active' OR state < 'active' AND start_after <= now())`,
      [queues, group],
    );
    return rows[0]?.open ?? 0;
  }

  onSettled(listener: () => void): () => void {
    this.#settled.add(listener);
    return () => void this.#settled.delete(listener);
  }

  /** What runs is finished, within `graceMs`; what was claimed and not begun is open again. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop(graceMs)));
    await this.#beats.stop(); // until here: what is finished is ours
    await this.#boss.stop({ graceful: false, close: false });
  }
}

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
