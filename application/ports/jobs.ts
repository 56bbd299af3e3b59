// The job queue. Jobs contain only ids. Running a job twice, late or concurrently is harmless (architecture §7).
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { SqlTransaction } from './sql.ts';

/** The payload of a job: ids, as JSON that matches the schema of its kind. */
export type JobPayload = { readonly [key: string]: Json };

/** Rules for the timers that start a kind of job. */
export interface TimerRule<Payload extends JobPayload = JobPayload> {
  keyOf(payload: Payload): string;
  /** Returns the payload of the job that the due timer starts. It includes the due time if the work needs it. */
  jobPayloadOf(payload: Payload, timer: { readonly dueAt: Timestamp; readonly held?: true }): Payload;
  /** Whether the timer's group is the target of its job. */
  readonly isGroupTarget: boolean;
  /** See Timer.onlyLater. A repeated request may set the timer before the reaction to its first event does (K7). */
  readonly onlyLater: boolean;
}

/** A kind of job. Queues and workers are derived from the list of kinds (application/core/capability.ts). */
export interface JobKind<Payload extends JobPayload = JobPayload> {
  /** Names the queue, and the timers that start such jobs. */
  readonly name: string;
  /** JSON Schema of the payload. A stored job that does not match it fails permanently. */
  readonly schema: object;
  /** Version of the payload; default 1. Workers of an older version leave the job to newer ones. Payloads of older versions stay valid. */
  readonly version?: number;
  /** Returns the entity that the job is about, ignoring details such as an instant or a method. One job handles one subject. */
  subjectOf(payload: Payload): string;
  /** null: timers don't start such jobs. */
  readonly timer: TimerRule<Payload> | null;
  /** Largest number of payloads in one job; default 20. Use more if each is little work that mostly waits. */
  readonly payloadsPerJob?: number;
}

/** The payload type of a kind. */
export type PayloadOf<Kind> = Kind extends JobKind<infer Payload> ? Payload : never;

export interface JobRequest<Payload extends JobPayload = JobPayload> {
  /** Name of a kind. */
  readonly queue: string;
  /** The owner of the work. Workers are shared fairly between tenants, and live work is separate from test work. */
  readonly tenant: Tenant;
  readonly payload: Payload;
  /** The external party that the work waits for (a webhook endpoint). A slow target does not delay the tenant's others. Default: none. */
  readonly target?: string;
}

/** The lane in which a job waits: each queue has separate lanes for live and test. */
export type JobPlace = Pick<JobRequest, 'queue' | 'tenant'>;

/** Some payloads of a run failed. Only those are retried. */
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

/** The process stops. Payloads that fail with this have not begun: they return to the queue, and nothing counts or reports a failure. */
export class Stopping extends Error {
  override name = 'Stopping';

  constructor() {
    super('the process stops');
  }
}

/** Handles the jobs of a kind. The queue retries failed jobs with backoff; the watchdog finds work with a lost job. */
export interface JobHandler<Payload extends JobPayload = JobPayload> {
  /**
   * Handles the payloads, all of one tenant and target (null: none). If it resolves, all are done. If it rejects, all are retried, or only
   * those that PayloadsFailed names. `mayBeRepeat`: an earlier run of the job may have done part of the work. `signal` aborts when the job
   * is given up or the process stops. Work that still waits for its turn should then fail with the signal's reason, which is Stopping if
   * the process stops.
   */
  run(payloads: readonly Payload[], target: string | null, mayBeRepeat: boolean, signal: AbortSignal): Promise<void>;
}

/** How many jobs run concurrently in one process: in each lane (live and test), and for one target. No tenant gets all places. */
export interface Places {
  readonly places: number;
  readonly perTarget: number;
}

export interface JobQueue {
  /** Adds jobs. They are stored durably when it resolves; with `tx`, when this transaction is committed. */
  enqueue(jobs: readonly JobRequest[], tx?: SqlTransaction): Promise<void>;
  /** Starts workers of a queue in this process. */
  work(queue: string, handler: JobHandler, places: Places): void;
  /** Returns the number of payloads that wait or run, of all tenants or of one; at most 10,000. */
  open(queue: string, tenant?: Tenant): Promise<number>;
  /** Returns the number of a tenant's payloads that run or are ready to run, at most 10,000. Payloads that wait for a retry don't count. */
  underWay(queues: readonly string[], tenant: Tenant): Promise<number>;
  /** Returns the payloads of a tenant's jobs running in any process. A crashed worker's jobs count until their claims are released. */
  running<Payload extends JobPayload>(kind: JobKind<Payload>, tenant: Tenant): Promise<readonly Payload[]>;
  /**
   * Enqueues the jobs whose subject has no open job. If a job of the subject failed permanently, reopens it instead. Returns the jobs that
   * were enqueued or reopened.
   */
  ensure(jobs: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]>;
  /** Yields unfinished jobs of a kind that is owed by row, if they are older than `ageMs`; all of them, in pages of `page`. */
  owedByRow(queue: string, ageMs: number, page: number): AsyncIterable<readonly JobRequest[]>;
  /** Calls the listener when jobs of any queue end in this process. Returns a function that removes the listener. */
  onSettled(listener: () => void): () => void;
}
