// The test clock jumped: what it jumped over happens in order of due time, each at its own instant, with what arises on the way (X5).
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { QueueName } from '../ports/jobs.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import { itemOf, type TestTimers, type Timer } from '../ports/timers.ts';

export const testClock: ProcessManager = {
  name: 'testClock',
  categories: ['account'],
  react: (logged) => {
    if (!isOf(logged, 'account') || logged.event.type !== 'AccountTestClockAdvanced') return [];
    const { seconds, to } = logged.event.data;
    return [
      { kind: 'drainClock', account: logged.subject, offsetSeconds: seconds, until: to },
      job('drainClock', logged.subject),
    ];
  },
};

interface Needs {
  readonly accounts: Accounts;
  readonly timers: TestTimers;
  /** Runs the work of a queue here and now, as its worker would; `dueAt`: the instant of its timer. */
  readonly runJob: (queue: QueueName, item: string, dueAt: Timestamp) => Promise<void>;
  /**
   * Resolves when all events have been reacted to, nothing that was begun for the account's payments runs, and no message that is
   * waited for is on its way; then, or after `graceMs`, with all that are. null: the rest did not come about.
   */
  readonly settled: (account: AccountId, on: OnTheWay, graceMs: number) => Promise<readonly MessageOnItsWay[] | null>;
  /** How long messages of one instant are waited for before the next instant comes; default 1,000. */
  readonly graceMs?: number;
}

/** Messages count that are due by `until`, or were `sent` before their time. */
export interface OnTheWay {
  readonly until: Timestamp;
  readonly sent: ReadonlySet<string>;
  readonly isWaitedFor: (message: MessageOnItsWay) => boolean;
}
export interface MessageOnItsWay {
  readonly id: string;
  readonly target: string;
  readonly dueAt: Timestamp;
}

/** Longer than a receiver needs that is well: only one that is not gets its messages out of their order. */
const GRACE_MS = 1_000;

/**
 * Handler of one item of the queue `drainClock`: an account id. Cut off and run again, it goes on where it was. Messages go by their
 * own queue; those to a target that is slow go side by side, each at its own instant, and only the end waits for them.
 */
export const drainClock =
  (needs: Needs) =>
  async (item: string): Promise<void> => {
    const account = item as AccountId;
    await needs.accounts.refresh(account); // the clock may have been moved by another process
    await new Drain(needs, account).run();
  };

class Drain {
  readonly #needs: Needs;
  readonly #account: AccountId;
  readonly #slow = new Set<string>();
  #sent: ReadonlySet<string> = new Set();

  constructor(needs: Needs, account: AccountId) {
    this.#needs = needs;
    this.#account = account;
  }

  async run(): Promise<void> {
    const { timers } = this.#needs;
    for (;;) {
      const until = await timers.drainsUntil(this.#account);
      if (until === null) return;
      for (const { target } of await this.#settle(until, ({ target }) => !this.#slow.has(target)))
        this.#slow.add(target);
      if (await this.#step(until)) continue;
      // Nothing is due any more but what messages lead to that are under way.
      const last = await this.#messagesOfTheJump(until);
      if (last.size === 0) {
        if (await timers.drained(this.#account, until)) return;
      } else await this.#settle(until, ({ id }) => last.has(id));
    }
  }

  async #settle(until: Timestamp, isWaitedFor: OnTheWay['isWaitedFor']): Promise<readonly MessageOnItsWay[]> {
    const { settled, graceMs = GRACE_MS } = this.#needs;
    const onTheirWay = await settled(this.#account, { until, sent: this.#sent, isWaitedFor }, graceMs);
    if (onTheirWay === null) throw new Error(`the work of account ${this.#account} did not come to rest`);
    this.#sent = new Set(onTheirWay.map(({ id }) => id).filter((id) => this.#sent.has(id)));
    return onTheirWay;
  }

  /** Whether anything was due. */
  async #step(until: Timestamp): Promise<boolean> {
    const { timers, runJob } = this.#needs;
    const slow = await timers.ofGroups(this.#account, until, [...this.#slow]);
    await this.#send(slow);
    const due = await timers.earliest(this.#account, until);
    await this.#send(due.filter(({ kind }) => kind === 'deliver'));
    const others = due.filter(({ kind }) => kind !== 'deliver');
    await Promise.all(others.map((timer) => runJob(timer.kind, itemOf(timer), timer.dueAt)));
    if (others.length > 0) await timers.done(others);
    return slow.length + due.length > 0;
  }

  async #send(messages: readonly Timer[]): Promise<void> {
    if (messages.length === 0) return;
    this.#sent = new Set([...this.#sent, ...messages.map(({ key }) => key)]);
    await this.#needs.timers.send(messages);
  }

  /** Those whose attempt began before the clock was moved are not waited for. */
  async #messagesOfTheJump(until: Timestamp): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const { id, dueAt } of await this.#settle(until, () => false))
      if (this.#sent.has(id) || (await this.#needs.accounts.isJumpedOver(this.#account, 'test', dueAt))) ids.add(id);
    return ids;
  }
}
