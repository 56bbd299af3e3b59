// Orders to institutions that end without an answer: refunds, payouts and returns that were sent, but whose outcome the institution does
// not report. An operator asks the institution, and enters the outcome. Quita continues as if the institution had reported it (rule V9).
import { ACCOUNT } from '../../domain/account/account.ts';
import { ENTERED_AFTER_MS, type EnteredOutcome, NO_ORDER } from '../../domain/kernel/enteredOutcome.ts';
import type { PaymentId, RefundId, Tenant } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { enterReturnOutcome, type ReturnOrder } from '../../domain/payment/lifecycle.ts';
import { exists } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { enterPayoutOutcome } from '../../domain/payout/decisions.ts';
import { isAtBank, type PayoutId } from '../../domain/payout/payout.ts';
import { enterRefundOutcome, firstSentAt, REFUND } from '../../domain/refund/refund.ts';
import { leftOf } from '../../domain/transaction/incomingPayment.ts';
import { StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { reasonRefused } from '../core/operatorsReason.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { OverduePayment, PaymentReads } from '../ports/readModels/payments.ts';
import type { PayoutReads } from '../ports/readModels/payouts.ts';

export interface UnansweredOrdersNeeds extends UseCaseNeeds {
  readonly overduePayments: PaymentReads['overdue'];
  readonly payouts: Pick<PayoutReads, 'unfinished'>;
}

/** A return is named by its payment and the end-to-end id of the Pix; null: the only one under way. */
export type OrderRef =
  | { readonly kind: 'refund'; readonly refundId: RefundId }
  | { readonly kind: 'payout'; readonly payoutId: PayoutId }
  | { readonly kind: 'return'; readonly paymentId: PaymentId; readonly endToEndId: string | null };

export interface UnansweredOrder {
  readonly kind: OrderRef['kind'];
  /** The id of the refund or payout, or the payment of a return. */
  readonly order: string;
  readonly accountId: string;
  readonly amount: number;
  readonly currency: string;
  /** End-to-end id of the received Pix; null for a payout. */
  readonly endToEndId: string | null;
  readonly askedAt: Timestamp;
  /** The latest recorded answer, or null. */
  readonly lastAnswer: 'processing' | 'unknown' | null;
}

const PAGE = 500;

interface Money {
  readonly amount: Minor;
  readonly currency: string;
}
const shown = (
  ref: Pick<UnansweredOrder, 'kind' | 'order' | 'endToEndId' | 'lastAnswer' | 'askedAt'>,
  { accountId }: Tenant,
  { amount, currency }: Money,
): UnansweredOrder => ({ ...ref, accountId: ACCOUNT.idPrefix + accountId, amount, currency });

const refundOrder = async ({ commands }: UseCaseNeeds, refundId: RefundId): Promise<UnansweredOrder | null> => {
  const { state } = await commands.load(REFUND, REFUND.stream(refundId));
  if (state.status !== 'submitted' && state.status !== 'unknown') return null;
  const { order } = state;
  const lastAnswer = state.status === 'submitted' ? 'processing' : 'unknown';
  const about = { kind: 'refund', order: REFUND.idPrefix + refundId, endToEndId: order.providerPaymentId } as const;
  return shown({ ...about, lastAnswer, askedAt: firstSentAt(state) }, order, order);
};

const payoutOrder = async ({ commands }: UseCaseNeeds, payoutId: PayoutId): Promise<UnansweredOrder | null> => {
  const { state } = await commands.load(PAYOUT, PAYOUT.stream(payoutId));
  if (!isAtBank(state)) return null;
  const lastAnswer = state.status === 'unknown' ? 'unknown' : null;
  const about = { kind: 'payout', order: PAYOUT.idPrefix + payoutId, endToEndId: null, lastAnswer } as const;
  return shown({ ...about, askedAt: state.submittedAt }, state.terms, state.terms);
};

/** Returns the payment, and for each of its Pix the latest order to return it, which may be long after the Pix arrived. */
const returnOrders = async ({ commands }: UseCaseNeeds, paymentId: PaymentId) => {
  const latest = new Map<string, ReturnOrder>();
  let payment = PAYMENT.decider.initial;
  for await (const { event, after } of commands.loadSteps(PAYMENT, PAYMENT.stream(paymentId))) {
    payment = after;
    const { type, data } = event;
    if (!('returnId' in data) || data.returnId === null || type === 'TransactionReturnedOutside') continue;
    const { providerPaymentId } = 'incoming' in data ? data.incoming : data;
    latest.set(providerPaymentId, { providerPaymentId, returnId: data.returnId, askedAt: data.at });
  }
  return { payment, orders: [...latest.values()] };
};

const ofPayment = async (
  needs: UseCaseNeeds,
  { paymentId, tenant, work }: OverduePayment,
  before: Timestamp,
): Promise<UnansweredOrder | null> => {
  if (work.kind === 'refund') return refundOrder(needs, work.refundId);
  if (work.kind !== 'returnPayment') return null;
  const { payment, orders } = await returnOrders(needs, paymentId);
  const made = orders.find((one) => one.providerPaymentId === work.providerPaymentId);
  const seen = payment.transaction.incomingPayments.find((one) => one.providerPaymentId === work.providerPaymentId);
  if (made === undefined || made.askedAt >= before || !exists(payment) || seen?.outcome !== 'rejected') return null;
  const { askedAt, providerPaymentId: endToEndId } = made;
  const lastAnswer = seen.unanswered?.returnId === made.returnId ? 'unknown' : null;
  const about = { kind: 'return', order: PAYMENT.idPrefix + paymentId, endToEndId, askedAt } as const;
  return shown({ ...about, lastAnswer }, tenant, { amount: leftOf(seen), currency: payment.charge.terms.currency });
};

/**
 * Returns live orders that were sent more than a day ago and have not ended, oldest first, at most `limit`. Leaves out unreadable ones;
 * these are listed as parked streams.
 */
export const unansweredOrders =
  (needs: UnansweredOrdersNeeds) =>
  async (limit: number): Promise<readonly UnansweredOrder[]> => {
    const before = addMillis(needs.accounts.realNow(), -ENTERED_AFTER_MS);
    const found: UnansweredOrder[] = [];
    const add = async (order: Promise<UnansweredOrder | null>) => {
      const one = await unlessUnreadable(order);
      if (one !== null && !(one instanceof StreamUnreadable) && one.askedAt < before) found.push(one);
    };
    for await (const page of needs.overduePayments(before, PAGE))
      for (const one of page) if (one.tenant.mode === 'live') await add(ofPayment(needs, one, before));
    for await (const page of needs.payouts.unfinished(before, PAGE))
      for (const { tenant, payoutId } of page) if (tenant.mode === 'live') await add(payoutOrder(needs, payoutId));
    return found.toSorted((a, b) => (a.askedAt < b.askedAt ? -1 : 1)).slice(0, limit);
  };

export interface EnteredOrder {
  /** False: the order had this outcome already. */
  readonly isNew: boolean;
}

const SANDBOX = reject('mode_not_allowed', 'Only live orders wait for institutions. Use the sandbox routes.');
const NAME_ONE = reject('invalid_request', 'Several Pix of this payment are being returned. Name one with `pix`.', {
  param: 'pix',
});

/**
 * Ends an order with the outcome that an operator found out at the institution. Idempotent. Rejects with `not_found`, `mode_not_allowed`,
 * or `invalid_request` for a blank reason, or if the order ended otherwise, was not sent yet or is younger than a day.
 */
export const enterOrderOutcome =
  (needs: UnansweredOrdersNeeds) =>
  async (
    ref: OrderRef,
    { outcome, reason }: Pick<EnteredOutcome, 'outcome' | 'reason'>,
    by: Changer,
  ): Promise<EnteredOrder | Rejection> => {
    const refusal = reasonRefused(reason);
    if (refusal !== null) return refusal;
    const { commands, accounts } = needs;
    const entered = { outcome, reason, by: by.actor };
    const at = accounts.realNow();
    const isNew = (done: { readonly appended: number } | Rejection) =>
      isRejection(done) ? done : { isNew: done.appended > 0 };
    if (ref.kind === 'refund') {
      const stream = REFUND.stream(ref.refundId);
      const { state } = await commands.load(REFUND, stream);
      if (state.status === 'absent') return NO_ORDER;
      const { accountId, mode, paymentId } = state.order;
      if (mode !== 'live') return SANDBOX;
      const metadata = metadataForChange(by, accountId, paymentId);
      return isNew(await commands.execute(REFUND, stream, enterRefundOutcome(entered, at), metadata));
    }
    if (ref.kind === 'payout') {
      const stream = PAYOUT.stream(ref.payoutId);
      const { state } = await commands.load(PAYOUT, stream);
      if (state.status === 'absent') return NO_ORDER;
      if (state.terms.mode !== 'live') return SANDBOX;
      const metadata = metadataForChange(by, state.terms.accountId, ref.payoutId);
      return isNew(await commands.execute(PAYOUT, stream, enterPayoutOutcome(entered, at), metadata));
    }
    const { payment, orders } = await returnOrders(needs, ref.paymentId);
    if (!exists(payment)) return NO_ORDER;
    const { accountId, mode } = payment.charge.terms;
    if (mode !== 'live') return SANDBOX;
    const [order, another] = orders.filter(
      (one) => one.providerPaymentId === (ref.endToEndId ?? one.providerPaymentId),
    );
    if (order === undefined) return NO_ORDER;
    if (another !== undefined) return NAME_ONE;
    const stream = PAYMENT.stream(ref.paymentId);
    const metadata = metadataForChange(by, accountId, ref.paymentId);
    return isNew(await commands.execute(PAYMENT, stream, enterReturnOutcome(order, entered, at), metadata));
  };
