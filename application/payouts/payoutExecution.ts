// Executes payouts: submits them to the bank, polls until the outcome is known, and records it (rules Y4–Y6).
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Decision } from '../../domain/kernel/decider.ts';
import { addMillis, addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { type PayoutOutcome, recordPayoutOutcome, submitPayout } from '../../domain/payout/decisions.ts';
import {
  type AtBank,
  isAtBank,
  type Payout,
  type PayoutEvent,
  type PayoutId,
  type PayoutState,
} from '../../domain/payout/payout.ts';
import { autoConfirmPayouts } from '../../domain/payout/settings.ts';
import { idOf, payloadOf, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { FIRST_LOOK_SECONDS, nextLook, outcomeOfFirst, outcomeOfRepeat, SENT_ALONE_MS } from '../core/nextLook.ts';
import {
  clearTimer,
  effect,
  enqueue,
  fireNow,
  nothing,
  processManager,
  reacting,
  setTimer,
} from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { PayoutAlerts, PayoutOrder, PayoutRail, PayoutRails } from '../ports/payoutRail.ts';
import { type Timers, timerOf } from '../ports/timers.ts';

export const payoutJob = timedKind({
  name: 'payout',
  payload: payloadOf({ payoutId: idOf<PayoutId>() }),
  subjectOf: ({ payoutId }) => payoutId,
});

const payloadFor = ({ subject }: Pick<LoggedEvent, 'subject'>) => ({ payoutId: subject as PayoutId });
const enqueueJob = (logged: Pick<LoggedEvent, 'subject'>) => [enqueue(payoutJob, payloadFor(logged))];
const setFirstLook = (logged: Pick<LoggedEvent, 'subject' | 'account' | 'mode'>, at: Timestamp) => [
  setTimer(payoutJob, payloadFor(logged), logged, addSeconds(at, FIRST_LOOK_SECONDS), logged.account),
];
const stopTimer = (logged: Pick<LoggedEvent, 'subject'>) => [clearTimer(payoutJob, payloadFor(logged))];

type LatePayout = Parameters<PayoutAlerts['confirmedLate']>[0];
/**
 * The bank paid a payout that it had reported as failed. Operators are alerted in the transaction that moves the process's checkpoint, so
 * they are alerted at least once, even after a crash.
 */
export const payoutConfirmedLate = effect<LatePayout>('payoutConfirmedLate');

export const alertOfLatePayouts =
  ({ payoutAlerts }: { readonly payoutAlerts: PayoutAlerts }) =>
  async (payouts: readonly LatePayout[]): Promise<void> => {
    for (const payout of payouts) payoutAlerts.confirmedLate(payout);
  };

export const payoutExecution = processManager({
  name: 'payoutExecution',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payout: reacting(PAYOUT.groups, {
      reads: {
        PayoutRequested: (logged) => (logged.event.data.awaitsApproval ? [] : enqueueJob(logged)),
        PayoutAbandoned: nothing,
        PayoutApproved: enqueueJob,
        PayoutRejected: stopTimer,
        PayoutCancelled: stopTimer,
        PayoutSubmitted: (logged) => setFirstLook(logged, logged.event.data.at),
        PayoutOutcomeUnknown: (logged) => setFirstLook(logged, logged.event.data.at),
        PayoutOutcomeEntered: nothing,
        PayoutPaid: stopTimer,
        PayoutFailed: stopTimer,
        PayoutPersonalDataErased: nothing,
        PayoutConfirmedLate: (logged) => [
          payoutConfirmedLate.ask({ ...payloadFor(logged), accountId: logged.account, mode: logged.mode }),
        ],
      },
    }),
    account: reacting(ACCOUNT.groups, {
      reads: {
        AccountOpened: nothing,
        AccountSuspended: nothing,
        // Waiting payouts continue.
        AccountReopened: ({ account }) => [fireNow(payoutJob, account)],
        // The sandbox confirms payouts automatically again, so pending ones are checked now (Y6).
        AccountSandboxSettingsChanged: ({ account, event }) =>
          autoConfirmPayouts.of(event.data.sandbox) ? [fireNow(payoutJob, account, 'test')] : [],
        AccountTestClockAdvanced: nothing,
      },
      ignores: ['settings'],
    }),
  },
});

export interface ExecutionNeeds extends UseCaseNeeds {
  readonly payoutRails: PayoutRails;
  readonly timers: Pick<Timers, 'set'>;
}

const orderOf = ({ terms }: Payout): PayoutOrder => {
  const { payoutId, accountId, mode, connectionId, amount, destination, description: note } = terms;
  const metadata = mode === 'test' ? terms.metadata : null;
  return { payoutId, accountId, mode, connectionId, amount, destination, note, metadata };
};

export class PayoutExecutor {
  readonly #needs: ExecutionNeeds;

  constructor(needs: ExecutionNeeds) {
    this.#needs = needs;
  }

  /**
   * Takes the next step of a payout. `dueAt`: when its timer was due, if a test clock skipped that instant. `mayBeRepeat`: a process that
   * was killed may have taken this step without recording it.
   */
  async run(payoutId: PayoutId, dueAt?: Timestamp, mayBeRepeat = false): Promise<void> {
    const { state } = await this.#needs.commands.load(PAYOUT, PAYOUT.stream(payoutId));
    if (state.status === 'absent') return;
    const { accountId, mode } = state.terms;
    const at = await this.#needs.accounts.actingAt(accountId, mode, dueAt);
    if (state.status === 'ready') await this.#submit(state, at);
    else if (isAtBank(state)) await this.#resume(state, at, mayBeRepeat);
    else if (state.status === 'failed') await this.#checkFailed(state, at);
  }

  /**
   * Records the submission before calling the bank, so that a payout the bank may pay can't be cancelled. Payouts of a suspended account
   * wait until it is reopened.
   */
  async #submit(payout: Payout, at: Timestamp): Promise<void> {
    const rail = await this.#railOf(payout);
    if (await this.#waitsIfSuspended(payout, at)) return;
    const { accounts } = this.#needs;
    const begunAt = accounts.realNow();
    const { state: submitted, appended } = await this.#execute(payout, submitPayout(at));
    // Otherwise it was cancelled, or another process is submitting it.
    if (!isAtBank(submitted) || appended === 0) return;
    const outcome = outcomeOfFirst(await rail.pay(orderOf(payout)), begunAt, accounts.realNow());
    await this.#record(submitted, outcome, at);
  }

  /**
   * Asks the bank for the outcome, and submits the payout again under the same id if the bank does not have it. At first, the order may
   * still be on its way.
   */
  async #resume(payout: AtBank, at: Timestamp, mayBeRepeat: boolean): Promise<void> {
    const rail = await this.#railOf(payout);
    const order = orderOf(payout);
    const found = await rail.find(order);
    if (found.kind === 'unknown') await this.#record(payout, found, at);
    else if (found.value !== null) await this.#record(payout, found.value, at);
    else if (at < addMillis(payout.submittedAt, SENT_ALONE_MS)) await this.#setNextLook(payout, at);
    else if (!(await this.#waitsIfSuspended(payout, at))) {
      const sentAt = payout.status === 'unknown' && !mayBeRepeat ? payout.unansweredAt : null;
      await this.#record(payout, outcomeOfRepeat(await rail.pay(order), sentAt, at), at);
    }
  }

  async #record(payout: AtBank, outcome: PayoutOutcome, at: Timestamp): Promise<void> {
    const { state: after } = await this.#execute(payout, recordPayoutOutcome(outcome, at));
    if (after.status === payout.status) await this.#setNextLook(payout, at);
  }

  /** Asks about a failed payout again after another notification: the bank may have paid it after all. */
  async #checkFailed(payout: Payout, at: Timestamp): Promise<void> {
    const order = orderOf(payout);
    const found = await (await this.#railOf(payout)).find(order);
    if (found.kind !== 'known') throw new UnknownAtProvider(`payout ${order.payoutId}`);
    if (found.value?.kind === 'confirmed') await this.#execute(payout, recordPayoutOutcome(found.value, at));
  }

  /** Throws UnknownAtProvider while the payout's connection is disabled. */
  async #railOf({ terms }: Payout): Promise<PayoutRail> {
    const rail = await this.#needs.payoutRails.of(terms);
    if (rail === null) throw new UnknownAtProvider(`payout ${terms.payoutId}`);
    return rail;
  }

  /** Returns whether the account is suspended, and sets a timer if so. */
  async #waitsIfSuspended(payout: Payout, at: Timestamp): Promise<boolean> {
    if (!(await this.#isSuspended(payout))) return false;
    await this.#setNextLook(payout, at);
    // If the account was reopened before the timer was set, the reopening did not fire the timer.
    return this.#isSuspended(payout);
  }

  async #isSuspended({ terms }: Payout): Promise<boolean> {
    return (await this.#needs.accounts.refresh(terms.accountId)).suspendedAt !== null;
  }

  /** Sets a timer for the next look. Pauses grow with the time since the submission; waiting for an approval does not count. */
  #setNextLook(payout: Payout, at: Timestamp): Promise<void> {
    const { payoutId, accountId, mode } = payout.terms;
    const since = isAtBank(payout) ? payout.submittedAt : payout.requestedAt;
    const when = { account: accountId, mode, group: accountId, dueAt: nextLook(since, at) };
    return this.#needs.timers.set(timerOf(payoutJob, { payoutId }, when));
  }

  #execute({ terms }: Payout, decide: Decision<PayoutState, PayoutEvent, string>) {
    const metadata = metadataForProcess('payoutExecution', terms, terms.payoutId, terms.payoutId);
    return this.#needs.commands.record(PAYOUT, PAYOUT.stream(terms.payoutId), decide, metadata);
  }
}
