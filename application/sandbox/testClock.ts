// The test clock jumped: what it jumped over happens in order of due time, each at its own instant, with what arises on the way (X5).
import { ACCOUNT, advanceTestClock } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import { jobKind, type TimerWork } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import type { Quiescence } from '../core/quiescence.ts';
import { type Doing, effect, enqueue, nothing, processManager, reacting } from '../core/reactions.ts';
import type { Stopwatch } from '../ports/clock.ts';
import type { JobQueue, PayloadOf } from '../ports/jobs.ts';
import type { Progress } from '../ports/readModels/progress.ts';
import type { DeliveryReads, MessageUnderWay } from '../ports/readModels/webhookDeliveries.ts';
import type { TestTimers, Timer } from '../ports/timers.ts';
import { type AwaitedMessages, messagesUnderWay } from '../webhooks/messagesUnderWay.ts';

export const drainClock = jobKind({
  name: 'drainClock',
  payload: payloadOf({ accountId: idOf<AccountId>() }),
  subjectOf: ({ accountId }) => accountId,
});

/** The account's clock was advanced to `until`: the timers up to there are fired in their order (X5). */
export const clockAdvance = effect<{
  readonly account: AccountId;
  readonly seconds: number;
  readonly until: Timestamp;
}>('clockAdvance');

/** One advance for each account. */
export const advanceClocks =
  ({ testTimers }: Pick<Needs, 'testTimers'>): Doing<typeof clockAdvance> =>
  async (advances, tx) => {
    for (const [account, all] of Map.groupBy(advances, (advance) => advance.account)) {
      const seconds = all.reduce((sum, advance) => sum + advance.seconds, 0);
      // Forward only: the last one is the farthest.
      for (const { until } of all.slice(-1)) await testTimers.advance(account, seconds, until, tx);
    }
  };

export const testClock = processManager({
  name: 'testClock',
  movesMoney: false,
  reactions: {
    account: reacting(ACCOUNT.groups, {
      reads: {
        AccountTestClockAdvanced: ({ subject, event }) => {
          const { seconds, to } = event.data;
          return [
            clockAdvance.ask({ account: subject as AccountId, seconds, until: to }),
            enqueue(drainClock, { accountId: subject as AccountId }),
          ];
        },
        AccountSandboxSettingsChanged: nothing,
      },
      ignores: ['standing', 'settings'],
    }),
  },
});

interface Needs {
  readonly accounts: Accounts;
  readonly testTimers: TestTimers;
  readonly timerWork: TimerWork;
  readonly deliveries: DeliveryReads;
  readonly quiescence: Quiescence;
}

/** Longest wait for what runs while a test clock is drained. */
const AT_REST_MS = 40_000;
/** Longer than a receiver needs that is well: only one that is not gets its messages out of their order. */
const GRACE_MS = 1_000;

/**
 * Works off what a clock jumped over. Cut off and run again, it goes on where it was. Messages go by their own queue; those to a target
 * that is slow go side by side, each at its own instant, and only the end waits for them.
 */
export const drain =
  (needs: Needs) =>
  async ({ accountId: account }: PayloadOf<typeof drainClock>): Promise<void> => {
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
    const { testTimers: timers } = this.#needs;
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

  async #settle(until: Timestamp, isWaitedFor: AwaitedMessages['isWaitedFor']): Promise<readonly MessageUnderWay[]> {
    const tenant = { accountId: this.#account, mode: 'test' } as const;
    const awaited = { until, sent: this.#sent, isWaitedFor };
    const underWay = await messagesUnderWay(this.#needs)(tenant, awaited, GRACE_MS, AT_REST_MS);
    if (underWay === null) throw new Error(`the work of account ${this.#account} did not come to rest`);
    this.#sent = new Set(underWay.map(({ id }) => id).filter((id) => this.#sent.has(id)));
    return underWay;
  }

  /** Whether anything was due. */
  async #step(until: Timestamp): Promise<boolean> {
    const { testTimers: timers, timerWork } = this.#needs;
    const slow = await timers.ofGroups(this.#account, until, [...this.#slow]);
    await this.#send(slow);
    const due = await timers.earliest(this.#account, until);
    await this.#send(due.filter(({ kind }) => timerWork.isSent(kind)));
    const others = due.filter(({ kind }) => !timerWork.isSent(kind));
    await Promise.all(others.map((timer) => timerWork.run(timer)));
    if (others.length > 0) await timers.done(others);
    return slow.length + due.length > 0;
  }

  async #send(messages: readonly Timer[]): Promise<void> {
    if (messages.length === 0) return;
    this.#sent = new Set([...this.#sent, ...messages.map(({ key }) => key)]);
    await this.#needs.testTimers.send(messages);
  }

  /** Those whose attempt began before the clock was moved are not waited for. */
  async #messagesOfTheJump(until: Timestamp): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const { id, dueAt } of await this.#settle(until, () => false))
      if (this.#sent.has(id) || (await this.#needs.accounts.isJumpedOver(this.#account, 'test', dueAt))) ids.add(id);
    return ids;
  }
}

/** POST /v1/sandbox/clock/advance: moves the clock. What it jumped over is worked off afterwards. */
export const advanceClock =
  ({ commands, accounts }: { commands: CommandHandler; accounts: Accounts }) =>
  async (accountId: AccountId, seconds: number, requester: Actor): Promise<Rejection | null> => {
    const metadata = metadataForRequest(requester, { accountId, mode: 'test' }, accountId);
    const done = await commands.execute(
      ACCOUNT,
      ACCOUNT.stream(accountId),
      advanceTestClock(seconds, accounts.realNow()),
      metadata,
    );
    return isRejection(done) ? done : null;
  };

/** Whether what the account's clock jumped over has been worked off, and shows in the read models, within `timeoutMs`. */
export const whenClockDrained =
  ({
    jobs,
    testTimers,
    quiescence,
    projected,
    reacted,
    stopwatch,
  }: Pick<Needs, 'testTimers' | 'quiescence'> & {
    readonly jobs: JobQueue;
    readonly projected: Progress;
    readonly reacted: Progress<string>;
    readonly stopwatch: Stopwatch;
  }) =>
  async (accountId: AccountId, timeoutMs: number): Promise<boolean> => {
    const deadline = stopwatch.elapsedMs() + timeoutMs;
    const left = () => Math.max(0, deadline - stopwatch.elapsedMs());
    const look = async () => {
      if (!(await reacted.caughtUp(left()))) return null;
      if ((await jobs.open(drainClock.name, { accountId, mode: 'test' })) > 0) return null;
      return (await testTimers.drainsUntil(accountId)) === null ? true : null;
    };
    return (await quiescence.until(timeoutMs, look)) === true && projected.caughtUp(left());
  };
