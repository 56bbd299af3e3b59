// The work queue (pg-boss). A job holds ids only; running it twice, late or concurrently changes nothing (architecture §7).
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

export const QUEUES = [
  'settle',
  'returnPayment',
  'finalise',
  'resumeCreation',
  'expire',
  'releaseFunds',
  'cancel',
  'refund',
  'fanOut',
  'deliver',
  'drainClock',
  'reconcile',
] as const;
export type QueueName = (typeof QUEUES)[number];

/** What an item is about, without the instant or the method that it may name besides: one subject is done by one job. */
export const subjectOf = (queue: QueueName, item: string): string => {
  if (queue === 'deliver') return item.replace(/[@!].*$/, '');
  return queue === 'expire' || queue === 'resumeCreation' ? item.replace(/:.*$/, '') : item;
};

export interface JobRequest {
  readonly queue: QueueName;
  /** For whom: workers are shared out between accounts, live apart from test, so that nobody's work waits for another's. */
  readonly tenant: Tenant;
  /** Ids, as the queue's handler reads them. */
  readonly item: string;
  /** Where a tenant's work waits for many others (webhook endpoints), for which: none of them holds up the rest. Default: none. */
  readonly target?: string;
}

/** Where a job stands: live and test are apart in every queue. */
export type JobPlace = Pick<JobRequest, 'queue' | 'tenant'>;

/** Of the items of one job these failed: only they run again. */
export class ItemsFailed extends Error {
  override name = 'ItemsFailed';
  readonly failures: readonly { readonly item: string; readonly error: Error }[];

  constructor(failures: ItemsFailed['failures']) {
    super(failures.map(({ item, error }) => `${item}: ${error.message}`).join('; '), { cause: failures[0]?.error });
    this.failures = failures;
  }
}

/** What fails is retried by the queue with backoff; what never ends is found by a watchdog. */
export interface JobHandler {
  /**
   * Items of one tenant and target (null: none). Resolving means all are done; rejecting has all of them run again, or those that
   * ItemsFailed names.
   */
  run(items: readonly string[], target: string | null): Promise<void>;
}

export interface JobQueue {
  /** Durable when it resolves; inside `tx` when one is given, and then workers are woken by `wake` after the commit. */
  enqueue(jobs: readonly JobRequest[], tx?: Sql): Promise<void>;
  /** Tells the workers of this process that there is work. */
  wake(places: Iterable<JobPlace>): void;
  work(
    queue: QueueName,
    handler: JobHandler,
    /** In each lane, live and test: jobs at once in this process, and of one target. No tenant gets them all. */
    options: { readonly places: number; readonly perTarget: number },
  ): void;
  /** Items that wait or run, of one tenant when it is given. */
  open(queue: QueueName, tenant?: Tenant): Promise<number>;
  /** Items of one tenant that run or could: those that failed and wait for their retry are left out. */
  underWay(queues: readonly QueueName[], tenant: Tenant): Promise<number>;
  /** Items of the jobs that run now, in any process. A worker that died counts until its claims are opened. */
  running(queue: QueueName): Promise<readonly string[]>;
  /**
   * Enqueues those for which no job is open. One that failed for good is opened again instead. Returns those that somebody does now
   * and nobody did before.
   */
  ensure(jobs: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]>;
  /** Called when jobs of any queue ended in this process. Returns the undo. */
  onSettled(listener: () => void): () => void;
}
