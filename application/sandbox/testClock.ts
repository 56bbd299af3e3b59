// Drains a test clock after it was advanced: runs the skipped timers in order, each at its own instant, and timers set on the way (X5).
import { ACCOUNT, advanceTestClock } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import { idOf, jobKind, payloadOf, type TimerWork } from '../core/capability.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Quiescence } from '../core/quiescence.ts';
import { type Doing, effect, enqueue, nothing, processManager, reacting } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { JobQueue, PayloadOf } from '../ports/jobs.ts';
import type { Progress } from '../ports/readModels/progress.ts';
import type { DeliveryReads, MessageUnderWay } from '../ports/readModels/webhookDeliveries.ts';
import type { Stopwatch } from '../ports/system.ts';
import type { TestTimers, Timer } from '../ports/timers.ts';
import { type AwaitedMessages, messagesUnderWay } from '../webhooks/messagesUnderWay.ts';

export const drainClock = jobKind({
  name: 'drainClock',
  payload: payloadOf({ accountId: idOf<AccountId>() }),
  subjectOf: ({ accountId }) => accountId,
});

/** The account's clock was advanced to `until`: all timers due by then are fired in order (X5). */
export const clockAdvance = effect<{
  readonly account: AccountId;
  readonly seconds: number;
  readonly until: Timestamp;
}>('clockAdvance');

/** Advances the clocks, at most once for each account. */
export const advanceClocks =
  ({ testTimers }: Pick<Needs, 'testTimers'>): Doing<typeof clockAdvance> =>
  async (advances, tx) => {
    for (const [account, all] of Map.groupBy(advances, (advance) => advance.account)) {
      const seconds = all.reduce((sum, advance) => sum + advance.seconds, 0);
      // Clocks only move forward, so the last advance goes furthest.
      for (const { until } of all.slice(-1)) await testTimers.advance(account, seconds, until, tx);
    }
  };

export const testClock = processManager({
  name: 'testClock',
  movesMoney: false,
  from: 'beginning',
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
  readonly stopwatch: Stopwatch;
}

/** Longest wait for running jobs while a test clock is drained. */
const AT_REST_MS = 40_000;
/** More than a healthy receiver needs. Only receivers that take longer get messages out of order. */
const GRACE_MS = 1_000;
/**
 * Longest wait for messages that were due before the clock was advanced, so that no silent endpoint keeps the job: as long as the request
 * waits. Attempts that end later are retried by the regular scan, each at its own instant.
 */
const EARLIER_MS = 5_000;

/**
 * Runs everything that the clock skipped. If interrupted, the next run continues where this one stopped. Messages use their own queue.
 * Messages to a slow target are sent concurrently, each at its own instant, and only the end of the drain waits for them.
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
  #until: Timestamp | null = null;
  #sinceMs = 0;

  constructor(needs: Needs, account: AccountId) {
    this.#needs = needs;
    this.#account = account;
  }

  async run(): Promise<void> {
    const { testTimers: timers } = this.#needs;
    for (;;) {
      const until = await timers.drainsUntil(this.#account);
      if (until === null) return;
      this.#begin(until);
      for (const { target } of await this.#settle(until, ({ target }) => !this.#slow.has(target)))
        this.#slow.add(target);
      // Otherwise those of later pages would run at the time that they had before.
      if (await timers.areFiring(this.#account)) continue;
      if (await this.#step(until)) continue;
      // No timers are due. Only messages in progress may still set new ones.
      const last = await this.#lastMessages(until);
      if (last.size === 0) {
        if (await timers.drained(this.#account, until)) return;
      } else await this.#settle(until, ({ id }) => last.has(id));
    }
  }

  /** Measures the wait for earlier messages from here if the clock was advanced again. */
  #begin(until: Timestamp): void {
    if (until === this.#until) return;
    this.#until = until;
    this.#sinceMs = this.#needs.stopwatch.elapsedMs();
  }

  async #settle(until: Timestamp, isWaitedFor: AwaitedMessages['isWaitedFor']): Promise<readonly MessageUnderWay[]> {
    const tenant = { accountId: this.#account, mode: 'test' } as const;
    const awaited = { until, sent: this.#sent, isWaitedFor };
    const underWay = await messagesUnderWay(this.#needs)(tenant, awaited, GRACE_MS, AT_REST_MS);
    if (underWay === null) throw new Error(`jobs of account ${this.#account} did not finish in time`);
    this.#sent = new Set(underWay.map(({ id }) => id).filter((id) => this.#sent.has(id)));
    return underWay;
  }

  /** Runs the earliest due timers. Returns whether there were any. */
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

  /** Returns messages in progress that the drain must wait for. Those due before the clock was advanced count only for EARLIER_MS. */
  async #lastMessages(until: Timestamp): Promise<ReadonlySet<string>> {
    const { accounts, stopwatch } = this.#needs;
    const ids = new Set<string>();
    const found = await this.#settle(until, () => false);
    const countsEarlier = stopwatch.elapsedMs() - this.#sinceMs < EARLIER_MS;
    for (const { id, dueAt } of found)
      if (countsEarlier || this.#sent.has(id) || (await accounts.isJumpedOver(this.#account, 'test', dueAt)))
        ids.add(id);
    return ids;
  }
}

/**
 * POST /v1/sandbox/clock/advance: advances the clock. A job drains it afterwards. `seenOffset`: the offset in seconds that the user saw, so
 * that a form sent twice moves the clock once; null for any.
 */
export const advanceClock =
  ({ commands, accounts }: UseCaseNeeds) =>
  async (
    accountId: AccountId,
    seconds: number,
    requester: Actor,
    seenOffset: number | null = null,
  ): Promise<Rejection | null> => {
    const metadata = metadataForRequest(requester, { accountId, mode: 'test' }, accountId);
    const done = await commands.execute(
      ACCOUNT,
      ACCOUNT.stream(accountId),
      advanceTestClock(seconds, accounts.realNow(), seenOffset),
      metadata,
      { isLimited: true },
    );
    return isRejection(done) ? done : null;
  };

/** Waits at most `timeoutMs` until the account's clock is drained and the read models show the result. Returns whether they do. */
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
    const remainingMs = () => Math.max(0, deadline - stopwatch.elapsedMs());
    const look = async () => {
      if (!(await reacted.caughtUp(remainingMs()))) return null;
      if ((await jobs.open(drainClock.name, { accountId, mode: 'test' })) > 0) return null;
      return (await testTimers.drainsUntil(accountId)) === null ? true : null;
    };
    return (await quiescence.until(timeoutMs, look)) === true && projected.caughtUp(remainingMs());
  };
