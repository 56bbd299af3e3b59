// The job queue on pg-boss. pg-boss creates its tables and keeps the queues' options. The statements on the tables are Quita's
// (statements.ts), and so is the loop that claims jobs. The loop shares places between tenants, keeps claiming while jobs wait for a slow
// endpoint, and makes one claim per wake-up. pg-boss's supervision is off: it counts and deletes jobs by reading the whole table.

import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import type {
  JobHandler,
  JobKind,
  JobPayload,
  JobPlace,
  JobQueue,
  JobRequest,
  Places,
} from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import { versionOf } from '../../application/ports/payloadVersions.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { type SqlPool, type SqlTransaction, TextArray } from '../../application/ports/sql.ts';
import { withRests } from '../../application/ports/withRests.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';
import { systemStopwatch } from '../system/system.ts';
import { ClaimKeeper } from './claimKeeper.ts';
import { claimsOf, type JobFailure } from './claims.ts';
import { DuePoll } from './duePoll.ts';
import { completeTables, refuseNewerTables } from './installation.ts';
import { type ClaimedJob, JobLoop } from './jobLoop.ts';
import {
  JOBS_CHANNEL,
  LANES,
  type Lane,
  laneOf,
  lanePartsOf,
  lanesOf,
  noticeOf,
  tenantKey,
  tenantOf,
} from './lanes.ts';
import { type KnownQueue, knownQueues, type NewerPayload, type QueueKind } from './payloads.ts';
import { JOBS_SCHEMA } from './schema.ts';
import * as statements from './statements.ts';

/** Claims of a worker that is dead, frozen or cut off are reopened after at most five of these: 9.5 s. */
const HEARTBEAT_MS = 1_900;

/**
 * A job that hangs in a live worker fails after this and is retried. It is far longer than the longest work (draining a test clock may
 * handle a year's timers), because a job that only seems to hang then runs twice.
 */
const HANGS_MS = 15 * 60_000;

const DAY_SECONDS = 86_400;
const KEPT_SECONDS = 30 * DAY_SECONDS;
/**
 * Interval and longest duration of deletions of old jobs, and the number deleted at once: of failed jobs, and of waiting jobs of each
 * queue.
 */
const DELETE_MS = 10_000;
const DELETING_MS = 2_000;
const DELETED_MAX = 1_000;
const QUEUE_OPTIONS = {
  expireInSeconds: DAY_SECONDS,
  retryLimit: 30,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 120,
  // Waiting and permanently failed jobs stay visible for 30 days, so that an operator can inspect and retry them.
  retentionSeconds: KEPT_SECONDS,
  deleteAfterSeconds: KEPT_SECONDS,
};

export interface PgBossJobsOptions {
  /** Every kind of job that this program knows. */
  readonly queues: readonly QueueKind[];
  /** Jobs are derived data, so the pool's sessions need not wait for the disk. */
  readonly pool: SqlPool;
  readonly notices: NotificationListener;
  /** Whether this process may take work; called before each claim. Default: always. The next poll finds waiting jobs. */
  readonly mayClaim?: () => boolean;
  readonly onError: (error: Error, failure: JobFailure) => void;
  /** Called when a job was left to a worker of a newer version. */
  readonly onPutBack?: (queue: string, error: NewerPayload) => void;
  /** How often old jobs are deleted, in milliseconds. Default: every ten seconds. */
  readonly deleteMs?: number;
  /** Interval of the heartbeats (ClaimKeeper), in milliseconds. Default 1,900. */
  readonly heartbeatMs?: number;
  /** How long a job may run, in milliseconds. Default 15 minutes. Checked with each heartbeat. */
  readonly hangsMs?: number;
}

export class PgBossJobs implements JobQueue {
  readonly #boss: PgBoss;
  readonly #options: PgBossJobsOptions;
  readonly #loops = new Map<Lane, JobLoop>();
  readonly #queues: ReadonlyMap<string, KnownQueue>;
  readonly #owedByRow: readonly string[];
  readonly #claimKeeper: ClaimKeeper;
  readonly #poll: DuePoll;
  #deleting: Repeating | null = null;
  readonly #settled = new Set<() => void>();
  /** By queue: how often this process left a job to a worker of a newer version. */
  readonly putBack = new Map<string, number>();
  /** Identifies this process's own notices, which also come back to it; its loops are already awake by then. */
  readonly #self = randomUUID();

  private constructor(options: PgBossJobsOptions) {
    this.#options = options;
    this.#queues = knownQueues(options.queues);
    const { hangsMs = HANGS_MS } = options;
    this.#owedByRow = options.queues.filter(({ isOwedByRow }) => isOwedByRow).map(({ kind }) => kind.name);
    this.#boss = new PgBoss({
      db: { executeSql: (text, values) => options.pool.query(text, values) },
      schema: JOBS_SCHEMA,
      schedule: false,
      supervise: false,
    });
    this.#boss.on('error', (error) => this.#onError('pg-boss')(error as Error));
    this.#claimKeeper = new ClaimKeeper({
      pool: options.pool,
      queues: [...this.#queues.keys()],
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      running: () => {
        const loops = [...this.#loops.values()];
        for (const loop of loops) loop.giveUp(hangsMs);
        return loops.flatMap(({ claims }) => claims);
      },
      onReopened: async (reopened) => {
        const places = reopened.map(({ name, tenant }) => ({ queue: name, tenant: tenantOf(tenant) }));
        this.wake(places);
        await options.pool.query('SELECT pg_notify($1, $2)', [JOBS_CHANNEL, this.#notice(places)]);
      },
      onError: this.#onError('claims'),
    });
    this.#poll = new DuePoll({
      pool: options.pool,
      lanes: () => this.#loops.keys(),
      onDue: (lane) => this.#loops.get(lane)?.wake(),
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

  /** Names of all queues. */
  get queues(): readonly string[] {
    return [...this.#queues.keys()];
  }

  /** Creates or updates the queues. Existing jobs keep the options that they were written with. */
  async #setQueues(): Promise<void> {
    const existing = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const name of this.#queues.keys()) {
      const queue = existing.get(name);
      const differs = ([option, value]: [string, unknown]) => queue?.[option as keyof typeof queue] !== value;
      if (queue === undefined) await this.#boss.createQueue(name, QUEUE_OPTIONS);
      else if (Object.entries(QUEUE_OPTIONS).some(differs)) await this.#boss.updateQueue(name, QUEUE_OPTIONS);
    }
  }

  /** Reopens all claims at once. Call it only while no other worker is alive. */
  async releaseClaims(): Promise<void> {
    await this.#options.pool.query(statements.RELEASE_ALL, [[...this.#queues.keys()]]);
  }

  /** Jobs that this process can run at once are written as claimed. No process is notified of these. */
  async enqueue(requests: readonly JobRequest[], tx?: SqlTransaction): Promise<void> {
    if (requests.length === 0) return;
    if (tx === undefined) return this.#options.pool.transaction((own) => this.enqueue(requests, own));
    const jobs = jobsOf(requests, (queue) => this.#known(queue));
    const taken = new Set(jobs.filter((job) => this.#loops.get(job.lane)?.take(job)));
    const left = new Set(jobs.filter((job) => !taken.has(job)).map(({ lane }) => lane));
    let claimed: readonly string[] = [];
    tx.onEnd((isCommitted) => {
      for (const job of taken) {
        const loop = this.#loops.get(job.lane);
        if (isCommitted && claimed.includes(job.id)) loop?.begin(job);
        else loop?.giveBack(job);
      }
      if (isCommitted) for (const lane of left) this.#loops.get(lane)?.wake();
    });
    const { rows } = await tx.query<{ claimed: readonly string[] }>({
      ...statements.INSERT,
      values: [
        new TextArray(jobs.map(({ lane }) => lanePartsOf(lane).queue)),
        new TextArray(jobs.map(({ tenant }) => tenant)),
        new TextArray(jobs.map(({ target }) => target)),
        new TextArray(jobs.map(({ payloads }) => JSON.stringify(payloads))),
        JOBS_CHANNEL,
        left.size > 0 ? noticeOf(left, this.#self) : null,
        this.#owedByRow,
        new TextArray(jobs.map(({ id }) => id)),
        new TextArray(jobs.map((job) => (taken.has(job) ? 'active' : 'created'))),
      ],
    });
    claimed = rows[0]?.claimed ?? [];
  }

  async ensure(requests: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]> {
    const open = new OpenSubjects((queue, tenants) => this.#openSubjects(queue, tenants));
    const taken: JobRequest[] = [];
    for await (const page of requests)
      for (const [queue, members] of Map.groupBy(page, (request) => request.queue)) {
        const isOpen = await open.of(queue, members);
        const lost = members.filter(({ payload }) => {
          const subject = this.#subjectOf(queue, payload);
          const isLost = !isOpen.has(subject);
          isOpen.add(subject);
          return isLost;
        });
        if (lost.length > 0) await this.#reopen(queue, lost);
        taken.push(...lost);
      }
    return taken;
  }

  /** Returns null for a stored payload that does not match its kind. */
  #subjectOf(queue: string, payload: JobPayload): string | null {
    return this.#queues.get(queue)?.subjectOf(payload) ?? null;
  }

  async #openSubjects(queue: string, tenants: readonly string[]): Promise<readonly (string | null)[]> {
    const { rows } = await this.#options.pool.query<{ payload: JobPayload }>(statements.OPEN_PAYLOADS, [
      queue,
      tenants,
    ]);
    return rows.map(({ payload }) => this.#subjectOf(queue, payload));
  }

  /** Retries failed jobs with all their attempts, and writes lost jobs again. */
  async #reopen(queue: string, lost: readonly JobRequest[]): Promise<void> {
    const { pool } = this.#options;
    const wanted = new Set(lost.map(({ payload }) => this.#subjectOf(queue, payload)));
    const failed = (await pool.query<FailedRow>(statements.FAILED_PAYLOADS, [queue, keysOf(lost)])).rows
      .map(({ id, payloads }) => ({ id, subjects: payloads.map((payload) => this.#subjectOf(queue, payload)) }))
      .filter(({ subjects }) => subjects.some((subject) => wanted.has(subject)));
    if (failed.length > 0) {
      await pool.query(statements.REOPEN, [failed.map(({ id }) => id), null]);
      this.wake(lost);
      await pool.query('SELECT pg_notify($1, $2)', [JOBS_CHANNEL, this.#notice(lost)]);
    }
    const reopened = new Set(failed.flatMap(({ subjects }) => subjects));
    await this.enqueue(lost.filter(({ payload }) => !reopened.has(this.#subjectOf(queue, payload))));
  }

  owedByRow(queue: string, ageMs: number, page: number): AsyncGenerator<readonly JobRequest[]> {
    return pagesOf(
      page,
      (last: OwedRow | null) => {
        const values = [queue, ageMs, last?.since ?? '-infinity', last?.payload ?? '', page];
        return this.#options.pool.query<OwedRow>(statements.OWED_PAGE, values);
      },
      (rows) =>
        rows.map(({ payload, tenant }) => ({
          queue,
          tenant: tenantOf(tenant),
          payload: JSON.parse(payload) as JobPayload,
        })),
    );
  }

  #notice(places: Iterable<JobPlace>): string {
    return noticeOf(lanesOf(places), this.#self);
  }

  #onError(queue: string): (error: Error) => void {
    return (error) => this.#options.onError(error, { queue, failures: [], isFinal: false });
  }

  wake(places: Iterable<JobPlace>): void {
    for (const lane of lanesOf(places)) this.#loops.get(lane)?.wake();
  }

  work(queue: string, handler: JobHandler, places: Places): void {
    const known = this.#known(queue);
    const onPutBack: PgBossJobsOptions['onPutBack'] = (of, error) => {
      this.putBack.set(of, (this.putBack.get(of) ?? 0) + 1);
      this.#options.onPutBack?.(of, error);
    };
    for (const lane of LANES) {
      const loop = new JobLoop(claimsOf({ ...this.#options, onPutBack }, known, lane), known.checked(handler), places, {
        onSettled: () => {
          for (const listener of this.#settled) listener();
        },
        onError: this.#onError(queue),
      });
      this.#loops.set(`${queue}/${lane}`, loop);
      loop.wake();
    }
    this.#claimKeeper.start();
    this.#poll.start();
    this.#deleting ??= repeating(this.#options.deleteMs ?? DELETE_MS, () => this.#deleteOld(), {
      onError: this.#onError('old jobs'),
    });
  }

  async #deleteOld(): Promise<void> {
    await withRests(systemStopwatch, DELETING_MS, async () => {
      const values = [this.queues, KEPT_SECONDS, DELETED_MAX];
      return ((await this.#options.pool.query(statements.DELETE_OLD, values)).rowCount ?? 0) >= DELETED_MAX;
    });
  }

  #known(queue: string): KnownQueue {
    const known = this.#queues.get(queue);
    if (known === undefined) throw new Error(`unknown queue ${queue}`);
    return known;
  }

  async open(queue: string, tenant?: Tenant): Promise<number> {
    const { rows } = await (tenant
      ? this.#options.pool.query<{ open: number }>(statements.COUNT_OPEN_OF, [queue, tenantKey(tenant)])
      : this.#options.pool.query<{ open: number }>(statements.COUNT_OPEN, [queue]));
    return rows[0]?.open ?? 0;
  }

  async underWay(queues: readonly string[], tenant: Tenant): Promise<number> {
    const values = [queues, tenantKey(tenant)];
    const { rows } = await this.#options.pool.query<{ open: number }>(statements.COUNT_UNDER_WAY, values);
    return rows[0]?.open ?? 0;
  }

  async running<Payload extends JobPayload>({ name }: JobKind<Payload>, tenant: Tenant): Promise<readonly Payload[]> {
    const statement = { ...statements.RUNNING_PAYLOADS, values: [name, tenantKey(tenant)] };
    const { rows } = await this.#options.pool.query<{ payload: Payload }>(statement);
    const known = rows.map(({ payload }) => this.#known(name).known(payload));
    return known.filter((payload) => payload !== null) as readonly JobPayload[] as readonly Payload[];
  }

  onSettled(listener: () => void): () => void {
    this.#settled.add(listener);
    return () => void this.#settled.delete(listener);
  }

  /** Finishes running jobs within `graceMs`, and reopens claimed jobs that have not begun. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([
      this.#poll.stop(),
      this.#deleting?.stop(),
      ...[...this.#loops.values()].map((loop) => loop.stop(graceMs)),
    ]);
    await this.#claimKeeper.stop(); // only now, so that jobs that just finished still hold their claims
    await this.#boss.stop({ graceful: false, close: false });
  }
}

const keysOf = (requests: readonly JobRequest[]): readonly string[] => [
  ...new Set(requests.map(({ tenant }) => tenantKey(tenant))),
];

/** Subjects with an open job, by queue. Each tenant's jobs are read once, when the first request of the tenant comes. */
class OpenSubjects {
  readonly #read: (queue: string, tenants: readonly string[]) => Promise<readonly (string | null)[]>;
  readonly #queues = new Map<string, { readonly tenants: Set<string>; readonly subjects: Set<string | null> }>();

  constructor(read: (queue: string, tenants: readonly string[]) => Promise<readonly (string | null)[]>) {
    this.#read = read;
  }

  async of(queue: string, requests: readonly JobRequest[]): Promise<Set<string | null>> {
    const known = this.#queues.get(queue) ?? { tenants: new Set(), subjects: new Set() };
    this.#queues.set(queue, known);
    const tenants = keysOf(requests).filter((tenant) => !known.tenants.has(tenant));
    if (tenants.length > 0) for (const subject of await this.#read(queue, tenants)) known.subjects.add(subject);
    for (const tenant of tenants) known.tenants.add(tenant);
    return known.subjects;
  }
}

interface NewJob extends ClaimedJob {
  readonly lane: Lane;
}

/** Returns jobs with one queue, tenant, target and version each. */
const jobsOf = (
  requests: readonly JobRequest[],
  knownOf: (queue: string) => Pick<KnownQueue, 'payloadsPerJob' | 'stored'>,
): readonly NewJob[] => {
  const storedOf = ({ queue, payload }: JobRequest): JobPayload => knownOf(queue).stored(payload);
  const groups = Map.groupBy(
    requests,
    (request) =>
      `${laneOf(request)}/${request.tenant.accountId} ${request.target ?? ''} ${versionOf(storedOf(request))}`,
  );
  return [...groups.values()].flatMap((members) => {
    const first = members[0] as JobRequest;
    const distinct = new Map(members.map(storedOf).map((payload) => [JSON.stringify(payload), payload]));
    return chunks([...distinct.values()], knownOf(first.queue).payloadsPerJob).map((payloads) => ({
      id: randomUUID(),
      attempt: 0,
      payloads,
      tenant: tenantKey(first.tenant),
      target: first.target ?? '',
      lane: laneOf(first),
    }));
  });
};

interface FailedRow {
  readonly id: string;
  readonly payloads: readonly JobPayload[];
}

interface OwedRow {
  readonly payload: string;
  readonly tenant: string;
  readonly since: string;
}

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
