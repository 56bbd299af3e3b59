// The work queue (pg-boss). A job holds ids only; running it twice, late or concurrently changes nothing (design §7).
import type { Sql } from './sql.ts';

export const QUEUES = [
  'settle',
  'returnReceipt',
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

export interface JobRequest {
  readonly queue: QueueName;
  /** Ids, as the queue's handler reads them. */
  readonly item: string;
  /** Items of one group share jobs and a share of the workers, so that no group holds up the others; default: one group for all. */
  readonly group?: string;
}

/** What fails is retried by the queue with backoff; what never ends is found by a watchdog. */
export interface JobHandler {
  /** Items of one group. Resolving means all are done; rejecting has all of them run again. */
  run(items: readonly string[], group: string | null): Promise<void>;
}

export interface JobQueue {
  /** Durable when it resolves; inside `tx` when one is given, and then workers are woken by `wake` after the commit. */
  enqueue(jobs: readonly JobRequest[], tx?: Sql): Promise<void>;
  /** Tells the workers of these queues, in every process, that there is work. */
  wake(queues: Iterable<QueueName>): void;
  work(
    queue: QueueName,
    handler: JobHandler,
    options: { readonly concurrency: number; readonly perGroup: number },
  ): void;
  /** Items that wait or run, of one group when it is given. */
  open(queue: QueueName, group?: string): Promise<number>;
  /** Items of one group that run or could: those that failed and wait for their retry are left out. */
  underWay(queues: readonly QueueName[], group: string): Promise<number>;
  /** Called when jobs of any queue ended in this process. Returns the undo. */
  onSettled(listener: () => void): () => void;
}
