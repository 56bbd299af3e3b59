// The work queue. A job holds ids only; running it twice, late or concurrently changes nothing (architecture §7).
import type { Json } from '../../domain/kernel/json.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

/** What one job is about: ids, as JSON that fits the schema of its kind. */
export type JobPayload = { readonly [key: string]: Json };

/** How timers of a kind of job behave. */
export interface TimerRule<Payload extends JobPayload = JobPayload> {
  keyOf(payload: Payload): string;
  /** Returns the payload of the job that the due timer becomes: with its instant, where the work asks for it. */
  jobPayloadOf(payload: Payload, timer: { readonly dueAt: Timestamp; readonly held?: true }): Payload;
  /** Whether the group of a timer is the target of its job. */
  readonly isGroupTarget: boolean;
  /** As Timer.onlyLater: a repeat of a request may have set the timer before the reaction to its first event does (K7). */
  readonly onlyLater: boolean;
}

/** A kind of job. Everything that knows queues is derived from the list of them (application/core/capability.ts). */
export interface JobKind<Payload extends JobPayload = JobPayload> {
  /** Names the queue, and the timers that become such jobs. */
  readonly name: string;
  /** JSON Schema of the payload. A stored job that does not fit it fails for good. */
  readonly schema: object;
  /** What the job is about, without an instant or a method that the payload may name besides: one subject is done by one job. */
  subjectOf(payload: Payload): string;
  /** null: no timer becomes such a job. */
  readonly timer: TimerRule<Payload> | null;
  /** What one job carries at most; default 20. Many, where each is little work and waits for others. */
  readonly payloadsPerJob?: number;
}

/** The payload type of a kind. */
export type PayloadOf<Kind> = Kind extends JobKind<infer Payload> ? Payload : never;

export interface JobRequest<Payload extends JobPayload = JobPayload> {
  /** Name of a kind. */
  readonly queue: string;
  /** Whose work it is: workers are shared fairly between tenants, live apart from test, so that none waits for another. */
  readonly tenant: Tenant;
  readonly payload: Payload;
  /** The outside party that the work waits for (a webhook endpoint): a slow one does not hold up the tenant's others. Default: none. */
  readonly target?: string;
}

/** The place of a job: each queue has separate lanes for live and test. */
export type JobPlace = Pick<JobRequest, 'queue' | 'tenant'>;

/** Some payloads of a run failed: only they are retried. */
export class PayloadsFailed extends Error {
  override name = 'PayloadsFailed';
  readonly failures: readonly { readonly payload: JobPayload; readonly error: Error }[];

  constructor(failures: PayloadsFailed['failures']) {
    super(failures.map(({ payload, error }) => `${JSON.stringify(payload)}: ${error.message}`).join('; '), {
      cause: failures[0]?.error,
    });
    this.failures = failures;
  }
}

/** The queue retries a failed job with backoff; the watchdog finds work whose job was lost. */
export interface JobHandler<Payload extends JobPayload = JobPayload> {
  /**
   * Does what the payloads are about, all of one tenant and target (null: none). Resolving means all are done; rejecting has all of them
   * come again, or those that PayloadsFailed names. `mayBeRepeat`: the job was begun before, and how far it came is not known.
   */
  run(payloads: readonly Payload[], target: string | null, mayBeRepeat: boolean): Promise<void>;
}

/** How many jobs run at once in one process: in each lane (live and test), and for one target. No tenant gets all places. */
export interface Places {
  readonly places: number;
  readonly perTarget: number;
}

export interface JobQueue {
  /** Adds jobs, durably when it resolves. With `tx`, they are added in it, and its owner calls `wake` after the commit. */
  enqueue(jobs: readonly JobRequest[], tx?: Sql): Promise<void>;
  /** Wakes the workers of this process, because there is work at these places. */
  wake(places: Iterable<JobPlace>): void;
  /** Starts workers of a queue in this process. */
  work(queue: string, handler: JobHandler, places: Places): void;
  /** Counts payloads that wait or run, of one tenant when it is given. */
  open(queue: string, tenant?: Tenant): Promise<number>;
  /** Counts payloads of one tenant that run or could: those that failed and wait for their retry are left out. */
  underWay(queues: readonly string[], tenant: Tenant): Promise<number>;
  /** Returns the payloads of the jobs that run now, in any process. A worker that died counts until its claims are opened. */
  running<Payload extends JobPayload>(kind: JobKind<Payload>): Promise<readonly Payload[]>;
  /**
   * Enqueues those for whose subject no job is open; where one failed for good, that is opened again instead. Returns the ones that were
   * enqueued or opened.
   */
  ensure(jobs: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]>;
  /** Yields jobs of a kind owed by row that were written more than `ageMs` ago and are not done; all, `page` at a time. */
  owedByRow(queue: string, ageMs: number, page: number): AsyncIterable<readonly JobRequest[]>;
  /** Calls back when jobs of any queue ended in this process. Returns the undo. */
  onSettled(listener: () => void): () => void;
}
