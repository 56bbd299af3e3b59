// Money that awaits an operator's decision (M5): a Pix held for review because the bank didn't identify the payer of a locked charge, and
// money whose return the provider refused. The operator releases it or returns it.
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type IncomingPayment, type IncomingPaymentRecord, leftOf } from '../transaction/incomingPayment.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';
import { type SettlementTerms, settled } from './settle.ts';
import { ALREADY_SETTLED, isSettledByOperator } from './settleHeld.ts';

const NOT_HELD = reject('invalid_request', 'This payment is not held for review.');

/** Returns whether the return was refused and not confirmed later. Otherwise the money can only be written off (M10). */
const canGoBack = ({ outcome, late }: IncomingPaymentRecord): boolean => outcome === 'unreturned' && late === undefined;

/**
 * Returns the payment that can still be credited, or null. It was held because the payer's document is missing, or its return by an
 * operator was refused. Payments with a wrong amount or payer, second or late ones, and those of cancelled charges can only be returned.
 */
const creditable = ({ transaction }: ExistingPayment): IncomingPayment | null => {
  if (transaction.status !== 'held' && transaction.status !== 'returning') return null;
  const { providerPaymentId } = transaction.incoming;
  const seen = transaction.incomingPayments.find((one) => one.providerPaymentId === providerPaymentId);
  // If a part was returned outside Quita, the price is no longer paid in full.
  if (seen?.outside !== undefined) return null;
  if (transaction.status === 'held') return transaction.incoming;
  return seen !== undefined && canGoBack(seen) && seen.reason === 'operator' ? transaction.incoming : null;
};

/** Returns whether it went back although it paid the price of the locked charge. Other payments never await a release. */
const decidesCharge = ({ reason }: IncomingPaymentRecord): boolean =>
  reason === 'operator' || reason === 'cancelled' || reason === 'payer_mismatch';

/**
 * Credits a held payment. `by`: who decided it. No-op if already released. Rejects with `held_already_settled` if an operator settled the
 * held payment, and with `invalid_request` if it was returned, is being returned, was never held, or must not be credited.
 */
export const releaseHeld =
  (
    terms: SettlementTerms,
    by: string,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'released' | 'already_released'> =>
  (state) => {
    const payment = assertExists(state);
    const { transaction } = payment;
    const wasReleased = transaction.incomingPayments.some(({ reason }) => reason === 'released');
    if (transaction.status === 'settled' && wasReleased) return { events: [], reply: 'already_released' };
    const incoming = creditable(payment);
    if (incoming === null) {
      if (transaction.incomingPayments.some((one) => decidesCharge(one) && isSettledByOperator(one)))
        return ALREADY_SETTLED;
      const kept = transaction.incomingPayments.find(({ outcome }) => outcome === 'unreturned' || outcome === 'held');
      const why = kept?.outside === undefined ? kept?.reason : 'a part was already returned';
      return kept === undefined
        ? NOT_HELD
        : reject('invalid_request', `The held money of this payment can’t be credited (${why}). Return it.`);
    }
    const { providerPaymentId, amount } = incoming;
    const { currency } = payment.charge.terms;
    return {
      events: [
        { type: 'TransactionHeldReleased', data: { providerPaymentId, amount, currency, by, at } },
        settled(payment, { ...terms, incoming, at }),
      ],
      reply: 'released',
    };
  };

interface ReturnHeld {
  /** Returns the id of a return that the provider refused this many times before. */
  readonly returnIdOf: (providerPaymentId: string, refusals: number) => string;
  /** The held payment to return; null for all of them. */
  readonly providerPaymentId: string | null;
  readonly by: string;
}

/** Returns held money to the payer. No-op if it is already being returned. Rejects money never held or released with `invalid_request`. */
export const returnHeld =
  (
    { returnIdOf, providerPaymentId: only, by }: ReturnHeld,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'returning' | 'already_returning'> =>
  (state) => {
    const payment = assertExists(state);
    const { transaction } = payment;
    const isMeant = (one: { readonly providerPaymentId: string }) => only === null || one.providerPaymentId === only;
    const incomingPayments = transaction.incomingPayments.filter(isMeant);
    const retried = incomingPayments.filter(canGoBack).map(({ providerPaymentId, refusal }): PaymentEvent => {
      const returnId = returnIdOf(providerPaymentId, refusal?.number ?? 0);
      return { type: 'TransactionReturnRetried', data: { providerPaymentId, returnId, by, at } };
    });
    const isHeldMeant = transaction.status === 'held' && isMeant(transaction.incoming);
    const rejected = isHeldMeant ? heldRejected(payment, (id) => returnIdOf(id, 0), 'operator', by, at) : null;
    const events = rejected === null ? retried : [rejected, ...retried];
    if (events.length > 0) return { events, reply: 'returning' };
    const isGoing = incomingPayments.some(
      ({ outcome, reason, refusal }) =>
        (outcome === 'rejected' || outcome === 'returned') && (reason === 'operator' || refusal !== undefined),
    );
    if (isGoing) return { events: [], reply: 'already_returning' };
    return incomingPayments.some(isSettledByOperator) ? ALREADY_SETTLED : NOT_HELD;
  };

/** Returns the event that sends the held Pix back under `returnIdOf`, or null if none is held. */
export const heldRejected = (
  { transaction, charge }: ExistingPayment,
  returnIdOf: (providerPaymentId: string) => string,
  reason: 'operator' | 'cancelled',
  by: string,
  at: Timestamp,
): PaymentEvent | null => {
  if (transaction.status !== 'held') return null;
  const { providerPaymentId } = transaction.incoming;
  const seen = transaction.incomingPayments.find((one) => one.providerPaymentId === providerPaymentId);
  const amount = leftOf(seen ?? transaction.incoming);
  const { currency } = charge.terms;
  const returnId = returnIdOf(providerPaymentId);
  return { type: 'TransactionHeldRejected', data: { providerPaymentId, amount, currency, returnId, reason, by, at } };
};
