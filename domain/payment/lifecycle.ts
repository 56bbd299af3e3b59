// Automatic steps of a payment: it expires, its funds are released, and a rejected payment is returned.
import { pendingMethods } from '../charge/charge.ts';
import { lastExpiry } from '../charge/instruments.ts';
import type { Decision } from '../kernel/decider.ts';
import { type EnteredOutcome, enteredAgain, NO_ORDER, notEnterable } from '../kernel/enteredOutcome.ts';
import { ZERO } from '../kernel/money.ts';
import { isRejection } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { leftOf } from '../transaction/incomingPayment.ts';
import { assertExists, isAwaitingMoney, type PaymentEvent, type PaymentState } from './payment.ts';

type Recorded = 'recorded' | 'nothing';
const NOTHING = { events: [], reply: 'nothing' } as const;

/**
 * Expires the payment once its last instrument has expired. The caller has checked that the provider knows of no payment in time (M4).
 * No-op if money has arrived, an instrument is still being issued, or the payment has already ended.
 */
export const expire =
  (now: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge } = assertExists(state);
    if (charge.status !== 'open' || !isAwaitingMoney(state) || pendingMethods(charge).length > 0) return NOTHING;
    const expiresAt = lastExpiry(charge.instruments);
    if (expiresAt === null || now < expiresAt) return NOTHING;
    return { events: [{ type: 'ChargeExpired', data: { at: expiresAt } }], reply: 'recorded' };
  };

/** Releases the held funds of a settled payment (M2). No-op if it is too early, already released, or nothing is held. */
export const releaseFunds =
  (now: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { transaction } = assertExists(state);
    if (transaction.status !== 'settled' || transaction.releasedAt !== null) return NOTHING;
    const { availableAt, netAmount, currency } = transaction.settlement;
    if (availableAt === null || now < availableAt) return NOTHING;
    return {
      events: [{ type: 'TransactionFundsReleased', data: { amount: netAmount, currency, at: availableAt } }],
      reply: 'recorded',
    };
  };

/**
 * Records the provider's confirmation of a return, or a late confirmation if the money went elsewhere after a refusal. No-op if it is
 * already recorded, or if the payment had no return. `returnId`: the order that was confirmed, which may have been refused before.
 */
export const recordReturn =
  (providerPaymentId: string, returnId: string, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((r) => r.providerPaymentId === providerPaymentId);
    if (seen === undefined || seen.returnId === null || seen.outcome === 'returned') return NOTHING;
    const { outcome, late } = seen;
    const amount = leftOf(seen);
    if (late?.some(({ id }) => id === providerPaymentId)) return NOTHING;
    const earlier = returnId === seen.returnId ? null : returnId;
    const data = { providerPaymentId, amount, currency: charge.terms.currency, at, returnId: earlier };
    if (outcome === 'rejected' || outcome === 'unreturned')
      return { events: [{ type: 'TransactionPaymentReturned', data }], reply: 'recorded' };
    return {
      events: [{ type: 'TransactionReturnConfirmedLate', data: { ...data, id: providerPaymentId, fee: ZERO } }],
      reply: 'recorded',
    };
  };

/**
 * Records when a return was first sent, if the provider did not report its outcome. No-op if recorded before, or unless the return is in
 * progress under this id.
 */
export const recordReturnUnknown =
  (providerPaymentId: string, returnId: string, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const seen = assertExists(state).transaction.incomingPayments.find(
      (r) => r.providerPaymentId === providerPaymentId,
    );
    if (seen?.outcome !== 'rejected' || seen.returnId !== returnId || seen.unanswered?.returnId === returnId)
      return NOTHING;
    return {
      events: [{ type: 'TransactionReturnOutcomeUnknown', data: { providerPaymentId, returnId, at } }],
      reply: 'recorded',
    };
  };

/** An order to return a received payment. */
export interface ReturnOrder {
  readonly providerPaymentId: string;
  readonly returnId: string;
  readonly askedAt: Timestamp;
}

/**
 * Ends a return with the outcome that an operator found out. If it was refused, an operator decides about the money (M10). No-op if it
 * ended so. Rejects with `not_found`, or with `invalid_request` if it ended otherwise, was requested again, or is younger than a day.
 */
export const enterReturnOutcome =
  (
    { providerPaymentId, returnId, askedAt }: ReturnOrder,
    entered: EnteredOutcome,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'entered' | 'known'> =>
  (state) => {
    const seen = assertExists(state).transaction.incomingPayments.find(
      (r) => r.providerPaymentId === providerPaymentId,
    );
    if (seen?.returnId !== returnId) return NO_ORDER;
    if (seen.outcome !== 'rejected') return enteredAgain(seen.outcome === 'returned' ? 'done' : 'refused', entered);
    const refusal = notEnterable(askedAt, at);
    if (refusal !== null) return refusal;
    const end =
      entered.outcome === 'done'
        ? recordReturn(providerPaymentId, returnId, at)(state)
        : recordReturnRefusal(providerPaymentId, returnId, entered.reason, at)(state);
    if (isRejection(end)) return end;
    const event: PaymentEvent = {
      type: 'TransactionReturnOutcomeEntered',
      data: { providerPaymentId, ...entered, at },
    };
    return { events: [event, ...end.events], reply: 'entered' };
  };

/**
 * Records that the provider refused the return with this id; an operator then decides. No-op unless the return is in progress under
 * this id.
 */
export const recordReturnRefusal =
  (
    providerPaymentId: string,
    returnId: string,
    reason: string,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((r) => r.providerPaymentId === providerPaymentId);
    if (seen?.outcome !== 'rejected' || seen.returnId !== returnId) return NOTHING;
    const amount = leftOf(seen);
    const { currency } = charge.terms;
    return {
      events: [{ type: 'TransactionReturnRefused', data: { providerPaymentId, amount, currency, reason, at } }],
      reply: 'recorded',
    };
  };
