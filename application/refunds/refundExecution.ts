// Executes reserved refunds: opens the refund, submits it to the provider, polls until the outcome is known, and records the outcome in the
// payment (architecture §4; rules M5–M7).

import { ACCOUNT } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import type { PaymentId, RefundId, Tenant } from '../../domain/kernel/ids.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import { completeRefund, releaseRefund } from '../../domain/payment/refund.ts';
import { recordHeldPayoutFailed, recordHeldPayoutPaid } from '../../domain/payment/settleHeld.ts';
import {
  firstSentAt,
  type OpenRefund,
  REFUND,
  type RefundEvent,
  type RefundOrder,
  type RefundOutcome,
  type RefundState,
  recordRefundOutcome,
  requestRefund,
} from '../../domain/refund/refund.ts';
import { autoConfirmRefunds } from '../../domain/refund/settings.ts';
import { idOf, payloadOf, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { FIRST_LOOK_SECONDS, nextLook, outcomeOfFirst, outcomeOfRepeat } from '../core/nextLook.ts';
import {
  clearTimer,
  effect,
  enqueue,
  fireNow,
  nothing,
  paymentOf,
  processManager,
  reacting,
  setTimer,
} from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { Connected, PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { type Timers, timerOf } from '../ports/timers.ts';

export const refund = timedKind({
  name: 'refund',
  payload: payloadOf({ paymentId: idOf<PaymentId>(), refundId: idOf<RefundId>() }),
  subjectOf: ({ refundId }) => refundId,
});
type RefundRef = PayloadOf<typeof refund>;

/** A refund's events name their payment as correlation id. */
const refundOf = ({ correlationId, subject }: Pick<LoggedEvent, 'correlationId' | 'subject'>): RefundRef => ({
  paymentId: correlationId as PaymentId,
  refundId: subject as RefundId,
});

const setFirstLook = (logged: LoggedEvent, at: Timestamp) => [
  setTimer(refund, refundOf(logged), logged, addSeconds(at, FIRST_LOOK_SECONDS), logged.account),
];
const conclude = (logged: LoggedEvent) => [clearTimer(refund, refundOf(logged)), enqueue(refund, refundOf(logged))];

type LateConfirmation = Tenant & { readonly paymentId: PaymentId; readonly id: string };
/**
 * The provider confirmed a refund that it had refused before. Operators are alerted in the transaction that moves the process's checkpoint,
 * so they are alerted at least once, even after a crash.
 */
export const confirmedLate = effect<LateConfirmation>('confirmedLate');

export const alertOfLate =
  ({ alerts }: { readonly alerts: Pick<OperatorAlerts, 'confirmedLate'> }) =>
  async (confirmations: readonly LateConfirmation[]): Promise<void> => {
    for (const { accountId, mode, paymentId, id } of confirmations)
      alerts.confirmedLate({ accountId, mode }, { paymentId, id });
  };

const alertOperators = (logged: LoggedEvent, id: string) => [
  confirmedLate.ask({ accountId: logged.account, mode: logged.mode, paymentId: paymentOf(logged), id }),
];

export const refundExecution = processManager({
  name: 'refundExecution',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        TransactionRefundReserved: (logged) => [
          enqueue(refund, { paymentId: paymentOf(logged), refundId: logged.event.data.refundId }),
        ],
        TransactionHeldPayoutRequested: (logged) => [
          enqueue(refund, { paymentId: paymentOf(logged), refundId: logged.event.data.payoutId }),
        ],
        TransactionHeldPayoutFailed: nothing,
        TransactionReturnConfirmedLate: (logged) => alertOperators(logged, logged.event.data.id),
        TransactionRefundConfirmedLate: (logged) => alertOperators(logged, logged.event.data.refundId),
        TransactionLateConfirmationWrittenOff: nothing,
      },
      ignores: [
        'demand',
        'methods',
        'money',
        'held',
        'order',
        'back',
        'outside',
        'gone',
        'outcome',
        'dispute',
        'erasure',
      ],
    }),
    refund: reacting(REFUND.groups, {
      reads: {
        RefundSubmitted: (logged) => setFirstLook(logged, logged.event.data.at),
        RefundOutcomeUnknown: (logged) => setFirstLook(logged, logged.event.data.at),
        RefundCompleted: conclude,
        RefundFailed: conclude,
        RefundConfirmedLate: conclude,
        RefundRequested: nothing,
        RefundOutcomeEntered: nothing,
        RefundPersonalDataErased: nothing,
      },
    }),
    account: reacting(ACCOUNT.groups, {
      reads: {
        // The sandbox confirms refunds automatically again, so pending ones are checked now (X3).
        AccountSandboxSettingsChanged: ({ account, event }) =>
          autoConfirmRefunds.of(event.data.sandbox) ? [fireNow(refund, account, 'test')] : [],
        // Waiting cash-outs continue.
        AccountReopened: ({ account }) => [fireNow(refund, account)],
        AccountOpened: nothing,
        AccountSuspended: nothing,
        AccountTestClockAdvanced: nothing,
      },
      ignores: ['settings'],
    }),
  },
});

interface Needs extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly timers: Pick<Timers, 'set'>;
}
type FailedRefund = Extract<RefundState, { status: 'failed' }>;

export class RefundExecutor {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Takes the next step of a refund. `dueAt`: when its timer was due, if a test clock skipped that instant. `mayBeRepeat`: a process that
   * was killed may have taken this step without recording it.
   */
  async run({ paymentId, refundId }: RefundRef, dueAt?: Timestamp, mayBeRepeat = false): Promise<void> {
    const { state: payment } = await this.#needs.commands.load(PAYMENT, PAYMENT.stream(paymentId));
    const work = exists(payment) ? workOf(payment, refundId) : null;
    if (work === null) return;
    const { order } = work;
    const { accountId, mode } = order;
    const at = await this.#needs.accounts.actingAt(accountId, mode, dueAt);
    const begunAt = this.#needs.accounts.realNow();
    const { refund, isNew } = await this.#open(order, at);
    if (refund.status === 'absent') throw new Error(`refund ${refundId} was not opened`);
    if (refund.status === 'completed') await this.#record(order, work.complete(refund.endToEndId, refund.completedAt));
    else if (refund.status === 'failed') await this.#concludeFailed(work, refund, at);
    else await this.#step(work, refund, { begunAt: isNew ? begunAt : null, at, mayBeRepeat });
  }

  /** Concludes a failed refund. If it was concluded before, asks the provider again, which may have paid it after all. */
  async #concludeFailed(
    { order, connection, complete, release }: Work,
    refund: FailedRefund,
    at: Timestamp,
  ): Promise<void> {
    if (await this.#record(order, release(refund.reason, refund.failedAt))) return;
    if (refund.late === undefined) {
      const found = await (await this.#needs.providers.of(connection))?.findRefund(order);
      if (found?.kind !== 'known') throw new UnknownAtProvider(`refund ${order.refundId}`);
      if (found.value?.kind === 'confirmed') await this.#execute(order, recordRefundOutcome(found.value, at));
      return;
    }
    await this.#record(order, complete(refund.late.endToEndId, refund.late.at));
  }

  async #open(order: RefundOrder, at: Timestamp): Promise<{ readonly refund: RefundState; readonly isNew: boolean }> {
    const { commands } = this.#needs;
    const { state } = await commands.load(REFUND, REFUND.stream(order.refundId));
    if (state.status !== 'absent') return { refund: state, isNew: false };
    const { state: refund, appended } = await this.#execute(order, requestRefund(order, at), true);
    return { refund, isNew: appended > 0 };
  }

  /**
   * Asks the provider for the outcome, or submits the refund under the same id, and records the outcome. Cash-outs of a suspended account
   * are not submitted until the account is reopened. `begunAt`: when this process began to submit it, if none can have done so before. One
   * that was killed may have done so without recording it.
   */
  async #step(
    { order, isOfMerchant, connection, metadata }: Work,
    refund: OpenRefund,
    {
      begunAt,
      at,
      mayBeRepeat,
    }: { readonly begunAt: Timestamp | null; readonly at: Timestamp; readonly mayBeRepeat: boolean },
  ): Promise<void> {
    const provider = await this.#needs.providers.of(connection);
    if (provider === null) throw new UnknownAtProvider(`refund ${order.refundId}`);
    let outcome: RefundOutcome | null = null;
    const isHeldBack = isOfMerchant && (await this.#isHeldBack(order));
    if (begunAt === null) {
      const found = await provider.findRefund(order);
      outcome = found.kind === 'unknown' ? { kind: 'unknown' } : found.value;
    }
    if (outcome === null && isHeldBack) {
      await this.#setNextLook(order, refund, at);
      // If the account was reopened before the timer was set, the reopening did not fire the timer.
      if (await this.#isHeldBack(order)) return;
    }
    if (outcome === null) {
      const sent = await provider.refund(order, metadata);
      outcome =
        begunAt === null
          ? outcomeOfRepeat(sent, mayBeRepeat ? null : (refund.sentAt ?? null), at)
          : outcomeOfFirst(sent, begunAt, this.#needs.accounts.realNow());
    }
    const { state: after } = await this.#execute(order, recordRefundOutcome(outcome, at));
    if (after.status === refund.status) await this.#setNextLook(order, refund, at);
  }

  async #isHeldBack({ accountId, strategy }: RefundOrder): Promise<boolean> {
    return strategy === 'cashout' && (await this.#needs.accounts.refresh(accountId)).suspendedAt !== null;
  }

  #setNextLook({ paymentId, refundId, accountId, mode }: RefundOrder, open: OpenRefund, at: Timestamp) {
    const when = { account: accountId, mode, group: accountId, dueAt: nextLook(firstSentAt(open), at) };
    return this.#needs.timers.set(timerOf(refund, { paymentId, refundId }, when));
  }

  async #execute(
    order: RefundOrder,
    decide: ReturnType<typeof requestRefund> | ReturnType<typeof recordRefundOutcome>,
    creates = false,
  ): Promise<{ readonly state: RefundState; readonly appended: number }> {
    const metadata = metadataForProcess('refundExecution', order, order.paymentId, order.refundId);
    const stream = REFUND.stream(order.refundId);
    return this.#needs.commands.record<RefundState, RefundEvent, string>(REFUND, stream, decide, metadata, { creates });
  }

  /** Records the outcome in the payment. Returns false if it was recorded before. */
  async #record(order: RefundOrder, decide: ReturnType<Work['release']>): Promise<boolean> {
    const { refundId, paymentId } = order;
    const metadata = metadataForProcess('refundExecution', order, paymentId, refundId);
    const { appended } = await this.#needs.commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata);
    return appended > 0;
  }
}

/** The order to execute, and how its outcome is recorded in the payment. */
interface Work {
  readonly order: RefundOrder;
  /** The payment's connection. */
  readonly connection: Connected;
  /** False: an operator's Pix-out that replaces a refused return. A suspension of the account does not hold it back. */
  readonly isOfMerchant: boolean;
  /** The charge's metadata in test mode, from which the sandbox reads simulated failures (X6); null in live mode. */
  readonly metadata: ChargeTerms['metadata'] | null;
  readonly complete: (endToEndId: string | null, at: Timestamp) => ReturnType<typeof completeRefund>;
  readonly release: (reason: string, at: Timestamp) => ReturnType<typeof releaseRefund>;
}

/** Returns the work for a reserved refund or a requested Pix-out, or null if neither has this id. */
const workOf = (payment: ExistingPayment, id: RefundId): Work | null => {
  const { terms } = payment.charge;
  const of = { connection: terms, metadata: terms.mode === 'test' ? terms.metadata : null };
  const order = refundOrderOf(payment, id);
  if (order !== null)
    return {
      ...of,
      order,
      isOfMerchant: true,
      complete: (endToEndId, at) => completeRefund(id, endToEndId, at),
      release: (reason, at) => releaseRefund(id, reason, at),
    };
  const payout = payoutOrderOf(payment, id);
  return (
    payout && {
      ...of,
      order: payout,
      isOfMerchant: false,
      complete: (endToEndId, at) => recordHeldPayoutPaid(id, endToEndId, at),
      release: (reason, at) => recordHeldPayoutFailed(id, reason, at),
    }
  );
};

const refundOrderOf = ({ charge: { terms }, transaction }: ExistingPayment, id: RefundId): RefundOrder | null => {
  const refund = transaction.status === 'settled' && transaction.refunds.find(({ refundId }) => refundId === id);
  if (!refund) return null;
  const { refundId, amount, currency, strategy, destination } = refund;
  const { paymentId, accountId, mode } = terms;
  const { method, incoming } = transaction.settlement;
  const { providerPaymentId } = incoming;
  return { refundId, paymentId, accountId, mode, amount, currency, method, strategy, destination, providerPaymentId };
};

const payoutOrderOf = ({ charge: { terms }, transaction }: ExistingPayment, refundId: RefundId): RefundOrder | null => {
  const { paymentId, accountId, mode, currency } = terms;
  for (const record of transaction.incomingPayments) {
    const { method, providerPaymentId, payouts = [] } = record;
    const payout = payouts.find(({ payoutId }) => payoutId === refundId);
    if (payout === undefined) continue;
    const { destination, amount } = payout;
    const about = { refundId, paymentId, accountId, mode, amount, currency, method, providerPaymentId };
    return { ...about, strategy: 'cashout', destination };
  }
  return null;
};
