// The work queue on pg-boss. pg-boss makes its tables, keeps the options of the queues and sweeps what is old; the statements on them are
// ours (statements.ts), and so is the loop that claims jobs: places are shared out between tenants, a worker goes on claiming
// while one slow endpoint is still being waited for, and one wake-up a batch wakes one claim.
import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import {
  ItemsFailed,
  type JobHandler,
  type JobPlace,
  type JobQueue,
  type JobRequest,
  QUEUES,
  type QueueName,
  subjectOf,
} from '../../application/ports/jobs.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';
import { ClaimBeats } from './claimBeats.ts';
import { completeTables, refuseNewerTables } from './installation.ts';
import { type Claim, type ClaimedJob, type Claims, JobLoop, type Limits, type Room } from './jobLoop.ts';
import { LANES, type Lane, laneBounds, laneOf, tenantKey, tenantOf } from './lanes.ts';
import { JOBS_CHANNEL, lanesOf, noticeOf } from './notice.ts';
import { JOBS_SCHEMA } from './schema.ts';
import * as statements from './statements.ts';

/** Ids a job carries at most. */
const ITEMS_PER_JOB = 20;

/** Claims of a worker that is dead, frozen or cut off are open again after five of these at most: 9.5 s. */
const BEAT_MS = 1_900;

/**
 * A job that hangs in a live worker fails after this, and comes again: far longer than the longest work (a drained test clock may have a
 * year's timers to handle), because what only seems to hang then runs twice.
 */
const HANGS_MS = 15 * 60_000;

const DAY_SECONDS = 86_400;
const QUEUE_OPTIONS = {
  // pg-boss counts from the claim, however alive the job is. What ends a claim counts from its last beat (BEAT_MS) and from HANGS_MS;
  // this must be beyond both.
  expireInSeconds: DAY_SECONDS,
  retryLimit: 30,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 120,
  // What waits or failed for good stays visible for 30 days, for an operator to see and re-drive.
  retentionSeconds: 30 * DAY_SECONDS,
  deleteAfterSeconds: 30 * DAY_SECONDS,
};

/** What a failure says is kept up to this length. */
const MESSAGE_MAX = 500;

export interface JobFailure {
  readonly queue: string;
  /** Item → what went wrong; empty when it was not the work of a job that failed. */
  readonly items: Readonly<Record<string, string>>;
  /** No attempt follows by itself. */
  readonly isFinal: boolean;
}

export interface PgBossJobsOptions {
  /** Jobs are derived data: its sessions need not wait for the disk. */
  readonly pool: SqlPool;
  readonly notices: NotificationListener;
  /** Whether this process may take work, asked before each claim; default: always. What waits is found by the next poll. */
  readonly mayClaim?: () => boolean;
  readonly onError: (error: Error, failure: JobFailure) => void;
  /** How often pg-boss sweeps what is old, in seconds; default 30. */
  readonly superviseSeconds?: number;
  /** How often a worker says that it is alive, and looks for claims of those that died (ClaimBeats); default 1,900. */
  readonly beatMs?: number;
  /** How long a job may run; default 15 minutes. Looked at with each beat. */
  readonly hangsMs?: number;
}

export class PgBossJobs implements JobQueue {
  readonly #boss: PgBoss;
  readonly #options: PgBossJobsOptions;
  readonly #loops = new Map<Lane, JobLoop>();
  readonly #beats: ClaimBeats;
  readonly #settled = new Set<() => void>();
  /** Our own notices come back to us; we have woken our loops by then. */
  readonly #self = randomUUID();

  private constructor(options: PgBossJobsOptions) {
    this.#options = options;
    const { superviseSeconds = 30, hangsMs = HANGS_MS } = options;
    this.#boss = new PgBoss({
      db: { executeSql: (text, values) => options.pool.query(text, values) },
      schema: JOBS_SCHEMA,
      schedule: false,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      maintenanceIntervalSeconds: 3600,
    });
    this.#boss.on('error', (error) => this.#onError('pg-boss')(error as Error));
    this.#beats = new ClaimBeats({
      pool: options.pool,
      beatMs: options.beatMs ?? BEAT_MS,
      running: () => {
        const loops = [...this.#loops.values()];
        for (const loop of loops) loop.giveUp(hangsMs);
        return loops.flatMap(({ claims }) => claims);
      },
      onOpened: async (opened) => {
        const places = opened.map(({ name, tenant }) => ({ queue: name, tenant: tenantOf(tenant) }));
        this.wake(places);
        await options.pool.query('SELECT pg_notify($1, $2)', [JOBS_CHANNEL, this.#notice(places)]);
      },
      onError: this.#onError('claims'),
    });
  }

  /** Throws OtherJobsSchema. */
  static async open(options: PgBossJobsOptions): Promise<PgBossJobs> {
    const jobs = new PgBossJobs(options);
    const { pool, notices } = options;
    await refuseNewerTables(pool);
    await jobs.#boss.start();
    await completeTables(pool);
    await jobs.#setQueues();
    await notices.on(JOBS_CHANNEL, (payload) => {
      const [from, lanes] = payload.split(' ');
      if (from === jobs.#self) return;
      for (const lane of lanes ? (lanes.split(',') as Lane[]) : jobs.#loops.keys()) jobs.#loops.get(lane)?.wake();
    });
    return jobs;
  }

  /** Options reach queues that are there already; jobs keep those they were written with. */
  async #setQueues(): Promise<void> {
    const existing = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const name of QUEUES) {
      const queue = existing.get(name);
      const differs = ([option, value]: [string, unknown]) => queue?.[option as keyof typeof queue] !== value;
      if (queue === undefined) await this.#boss.createQueue(name, QUEUE_OPTIONS);
      else if (Object.entries(QUEUE_OPTIONS).some(differs)) await this.#boss.updateQueue(name, QUEUE_OPTIONS);
    }
  }

  /** Only while no other worker is alive: claims of killed ones are open again at once. */
  async releaseClaims(): Promise<void> {
    await this.#options.pool.query(statements.RELEASE_ALL, [QUEUES]);
  }

  async enqueue(requests: readonly JobRequest[], tx?: Sql): Promise<void> {
    if (requests.length === 0) return;
    const rows = rowsOf(requests);
    await (tx ?? this.#options.pool).query({
      ...statements.INSERT,
      values: [
        new TextArray(rows.map(({ queue }) => queue)),
        new TextArray(rows.map(({ tenant }) => tenantKey(tenant))),
        new TextArray(rows.map(({ target }) => target)),
        new TextArray(rows.map(({ items }) => JSON.stringify(items))),
        JOBS_CHANNEL,
        this.#notice(requests),
      ],
    });
    if (!tx) this.wake(requests);
  }

  async ensure(requests: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]> {
    const open = new Map<QueueName, Set<string>>();
    const taken: JobRequest[] = [];
    for await (const page of requests)
      for (const [queue, members] of Map.groupBy(page, (request) => request.queue)) {
        const isOpen = open.get(queue) ?? (await this.#openItems(queue));
        open.set(queue, isOpen);
        const lost = members.filter(({ item }) => !isOpen.has(subjectOf(queue, item)));
        for (const { item } of lost) isOpen.add(subjectOf(queue, item));
        if (lost.length > 0) await this.#reopen(queue, lost);
        taken.push(...lost);
      }
    return taken;
  }

  async #openItems(queue: QueueName): Promise<Set<string>> {
    const { rows } = await this.#options.pool.query<{ item: string }>(statements.OPEN_ITEMS, [queue]);
    return new Set(rows.map(({ item }) => subjectOf(queue, item)));
  }

  /** What failed has its attempts again; what was lost is written anew. */
  async #reopen(queue: QueueName, lost: readonly JobRequest[]): Promise<void> {
    const { pool } = this.#options;
    const wanted = new Set(lost.map(({ item }) => subjectOf(queue, item)));
    const failed = (await pool.query<FailedRow>(statements.FAILED_ITEMS, [queue])).rows
      .map(({ id, items }) => ({ id, subjects: items.map((item) => subjectOf(queue, item)) }))
      .filter(({ subjects }) => subjects.some((subject) => wanted.has(subject)));
    if (failed.length > 0) {
      await pool.query(statements.REOPEN, [failed.map(({ id }) => id), null]);
      this.wake(lost);
      await pool.query('SELECT pg_notify($1, $2)', [JOBS_CHANNEL, this.#notice(lost)]);
    }
    const reopened = new Set(failed.flatMap(({ subjects }) => subjects));
    await this.enqueue(lost.filter(({ item }) => !reopened.has(subjectOf(queue, item))));
  }

  #notice(places: Iterable<JobPlace>): string {
    return noticeOf(places, this.#self);
  }

  #onError(queue: string): (error: Error) => void {
    return (error) => this.#options.onError(error, { queue, items: {}, isFinal: false });
  }

  wake(places: Iterable<JobPlace>): void {
    for (const lane of lanesOf(places)) this.#loops.get(lane)?.wake();
  }

  work(queue: QueueName, handler: JobHandler, limits: Limits): void {
    for (const lane of LANES) {
      const loop = new JobLoop(this.#claimsOf(queue, lane), handler, limits, {
        onSettled: () => {
          for (const listener of this.#settled) listener();
        },
        onError: this.#onError(queue),
      });
      this.#loops.set(`${queue}/${lane}`, loop);
      loop.start();
    }
    this.#beats.start();
  }

  #claimsOf(queue: QueueName, lane: Mode): Claims {
    const { pool, onError, mayClaim } = this.#options;
    const ended = (claims: readonly Claim[]) => [
      queue,
      claims.map(({ id }) => id),
      claims.map(({ attempt }) => attempt),
    ];
    return {
      claim: async (room) => (mayClaim?.() === false ? { jobs: [], lost: 0 } : claim(pool, queue, lane, room)),
      done: async (claims) => {
        const statement = statements.OWED_BY_ROW.has(queue) ? statements.DONE_OWED : statements.DONE;
        await pool.query({ ...statement, values: ended(claims) });
      },
      failed: async (job, error) => {
        const isFinal = await recordFailure(pool, queue, job, error);
        onError(error, { queue, items: failuresOf(job, error), isFinal });
      },
      release: async (claims) => void (await pool.query(statements.RELEASE, ended(claims))),
    };
  }

  async open(queue: QueueName, tenant?: Tenant): Promise<number> {
    const values = [queue, tenant ? tenantKey(tenant) : null];
    const { rows } = await this.#options.pool.query<{ open: number }>(statements.COUNT_OPEN, values);
    return rows[0]?.open ?? 0;
  }

  async underWay(queues: readonly QueueName[], tenant: Tenant): Promise<number> {
    const values = [queues, tenantKey(tenant)];
    const { rows } = await this.#options.pool.query<{ open: number }>(statements.COUNT_UNDER_WAY, values);
    return rows[0]?.open ?? 0;
  }

  async running(queue: QueueName): Promise<readonly string[]> {
    const { rows } = await this.#options.pool.query<{ item: string }>({ ...statements.RUNNING_ITEMS, values: [queue] });
    return rows.map(({ item }) => item);
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

interface Row {
  readonly queue: QueueName;
  readonly tenant: Tenant;
  readonly target: string;
  readonly items: readonly string[];
}

/** Jobs of at most 20 items, each of one queue, tenant and target. */
const rowsOf = (requests: readonly JobRequest[]): readonly Row[] => {
  const groups = Map.groupBy(
    requests,
    (request) => `${laneOf(request)}/${request.tenant.accountId} ${request.target ?? ''}`,
  );
  return [...groups.values()].flatMap((members) => {
    const { queue, tenant, target = '' } = members[0] as JobRequest;
    const items = [...new Set(members.map(({ item }) => item))];
    return chunks(items, ITEMS_PER_JOB).map((chunk) => ({ queue, tenant, target, items: chunk }));
  });
};

interface FailedRow {
  readonly id: string;
  readonly items: readonly string[];
}

interface ClaimedRow extends Claim {
  /** null: claimed by another worker meanwhile. */
  readonly items: readonly string[] | null;
  readonly tenant: string;
  readonly target: string;
}

const claim = async (db: Sql, queue: QueueName, lane: Mode, room: Room): ReturnType<Claims['claim']> => {
  const { rows } = await db.query<ClaimedRow>({
    ...statements.CLAIM,
    values: [
      queue,
      ...laneBounds(lane),
      room.free,
      room.perTenant,
      room.tenants.map(({ tenant }) => tenant),
      room.tenants.map(({ held }) => held),
      room.tenants.map((tenant) => tenant.room),
      room.perTarget,
      room.targets.map(({ tenant }) => tenant),
      room.targets.map(({ target }) => target),
      room.targets.map((target) => target.room),
    ],
  });
  const jobs = rows.filter((row): row is ClaimedRow & ClaimedJob => row.items !== null);
  return { jobs, lost: rows.length - jobs.length };
};

const said = (error: Error): string => error.message.slice(0, MESSAGE_MAX);

const failuresOf = (job: ClaimedJob, error: Error): Readonly<Record<string, string>> =>
  Object.fromEntries(
    error instanceof ItemsFailed
      ? error.failures.map((failure) => [failure.item, said(failure.error)])
      : job.items.map((item) => [item, said(error)]),
  );

/** Whether no attempt follows. A claim that was lost meanwhile is nobody's failure any more. */
const recordFailure = async (db: Sql, queue: QueueName, job: ClaimedJob, error: Error): Promise<boolean> => {
  const failures = failuresOf(job, error);
  const output = JSON.stringify({ message: said(error), items: failures });
  const values = [queue, job.id, job.attempt, JSON.stringify(Object.keys(failures)), output];
  const { rows } = await db.query<{ state: string }>({ ...statements.FAIL, values });
  const isDone = job.items.filter((item) => !Object.hasOwn(failures, item));
  if (statements.OWED_BY_ROW.has(queue) && isDone.length > 0) await db.query(statements.NOT_OWED, [queue, isDone]);
  return rows[0]?.state === 'failed';
};

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
