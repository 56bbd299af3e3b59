// Reactions for tests, and a queue that records its jobs.

import { CAPABILITIES } from '../../application/capabilities.ts';
import { jobsOf } from '../../application/core/capabilityList.ts';
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Timer } from '../../application/ports/timers.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { timerKindsOf } from '../../infrastructure/timers/timerTable.ts';

export const account = (name: string): AccountId => name as AccountId;
export const timer = (key: string, dueAt: string, more: Partial<Timer> = {}): Timer => ({
  account: account('acct'),
  mode: 'test' as Mode,
  kind: 'expire',
  key,
  payload: { paymentId: key },
  group: null,
  dueAt: dueAt as Timestamp,
  ...more,
});

export const timerKinds = timerKindsOf(jobsOf(CAPABILITIES).map(({ kind }) => kind));

/** Returns an event of which only type and subject matter. */
export const logged = (type: string, data: object = {}, more: Partial<LoggedEvent> = {}): LoggedEvent =>
  ({
    category: 'payment',
    subject: 'p',
    account: account('acct'),
    mode: 'test',
    event: { type, data },
    ...more,
  }) as LoggedEvent;

export class RecordingJobs implements JobQueue {
  readonly enqueued: JobRequest[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  async enqueue(jobs: readonly JobRequest[]): Promise<void> {
    this.enqueued.push(...jobs);
    for (const { resolve } of this.#waiting.filter(({ count }) => this.enqueued.length >= count)) resolve();
  }
  count(count: number): Promise<void> {
    return this.enqueued.length >= count
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
  work(): void {}
  async open(): Promise<number> {
    return 0;
  }
  async underWay(): Promise<number> {
    return 0;
  }
  async running(): Promise<readonly []> {
    return [];
  }
  async *owedByRow(): AsyncGenerator<readonly JobRequest[]> {}
  async ensure(requests: AsyncIterable<readonly JobRequest[]>): Promise<readonly JobRequest[]> {
    const found: JobRequest[] = [];
    for await (const page of requests) found.push(...page);
    await this.enqueue(found);
    return found;
  }
  onSettled(): () => void {
    return () => undefined;
  }
}
