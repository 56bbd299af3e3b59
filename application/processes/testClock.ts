// The test clock jumped: what it jumped over happens in order of due time, each at its own instant, with what arises on the way (X5).
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../accounts.ts';
import type { QueueName } from '../ports/jobs.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import type { TestTimers } from '../ports/timers.ts';

export const testClock: ProcessManager = {
  name: 'testClock',
  categories: ['account'],
  react: (logged) => {
    if (!isOf(logged, 'account') || logged.event.type !== 'AccountTestClockAdvanced') return [];
    const { seconds } = logged.event.data;
    return [
      { kind: 'drainClock', account: logged.subject, offsetSeconds: seconds },
      job('drainClock', logged.subject, logged.subject),
    ];
  },
};

interface Needs {
  readonly accounts: Accounts;
  readonly timers: TestTimers;
  /** Runs the work of a queue here and now, as its worker would; `dueAt`: the instant of its timer. */
  readonly runJob: (queue: QueueName, item: string, group: string | null, dueAt: Timestamp) => Promise<void>;
  /** Resolves when all events have been reacted to and no message of the account is on its way; false after its own time-out. */
  readonly settled: (account: AccountId) => Promise<boolean>;
}

/** Handler of one item of the queue `drainClock`: an account id. Cut off and run again, it goes on where it was. */
export const drainClock =
  ({ accounts, timers, runJob, settled }: Needs) =>
  async (item: string): Promise<void> => {
    const account = item as AccountId;
    await accounts.refresh(account); // the clock may have been moved by another process
    for (;;) {
      if (!(await settled(account))) throw new Error(`the work of account ${account} did not come to rest`);
      const due = await timers.earliest(account, await accounts.now(account, 'test'));
      if (due.length === 0) return timers.drained(account);
      await Promise.all(due.map(({ kind, key, group, dueAt }) => runJob(kind, key, group, dueAt)));
      await timers.done(due);
    }
  };
