// What waits for an operator (M5): a Pix held for review, because the bank named no payer for a locked charge, and whatever the provider
// refuses to send back. It is let pass, or sent back (again).
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { IncomingPayment, IncomingPaymentRecord } from '../transaction/incomingPayment.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';
import { type SettlementTerms, settled } from './settle.ts';
import { ALREADY_SETTLED, isSettledByOperator } from './settleHeld.ts';

const NOT_HELD = reject('invalid_request', 'This payment is not held for review.');

/** Refused, and not paid by the provider after all: then it can only be written off (M10). */
const canGoBack = ({ outcome, late }: IncomingPaymentRecord): boolean => outcome === 'unreturned' && late === undefined;

/**
 * Only what could be the charge's own can be credited: held for want of a payer's document, also when an operator wanted it sent back and
 * the provider refused. A wrong amount, a second or late payment, another payer's, and one of a cancelled charge can only go back.
 */
const creditable = ({ transaction }: ExistingPayment): IncomingPayment | null => {
  if (transaction.status === 'held') return transaction.incoming;
  if (transaction.status !== 'returning') return null;
  const { providerPaymentId } = transaction.incoming;
  const seen = transaction.incomingPayments.find((one) => one.providerPaymentId === providerPaymentId);
  return seen !== undefined && canGoBack(seen) && seen.reason === 'operator' ? transaction.incoming : null;
};

/**
 * `by`: who decided. Let pass before: nothing. Returned or on its way back, never held, or not to be credited: `invalid_request`.
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
    if (transaction.incomingPayments.some(isSettledByOperator) && creditable(payment) === null) return ALREADY_SETTLED;
    const wasReleased = transaction.incomingPayments.some(({ reason }) => reason === 'released');
    if (transaction.status === 'settled' && wasReleased) return { events: [], reply: 'already_released' };
    const incoming = creditable(payment);
    if (incoming === null) {
      const kept = transaction.incomingPayments.find(({ outcome }) => outcome === 'unreturned');
      return kept === undefined
        ? NOT_HELD
        : reject('invalid_request', `What is held of this payment can’t be credited (${kept.reason}): return it.`);
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
  /** Names a return at the provider that was refused so many times before. */
  readonly returnIdOf: (providerPaymentId: string, refusals: number) => string;
  /** Which of those that wait; null: all of the payment. */
  readonly providerPaymentId: string | null;
  readonly by: string;
}

/** Sent back before and not refused since: nothing; let pass before, or never held: `invalid_request`. */
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

/** The held Pix on its way back, its return named by `returnIdOf`; null when none is held. */
export const heldRejected = (
  { transaction, charge }: ExistingPayment,
  returnIdOf: (providerPaymentId: string) => string,
  reason: 'operator' | 'cancelled',
  by: string,
  at: Timestamp,
): PaymentEvent | null => {
  if (transaction.status !== 'held') return null;
  const { providerPaymentId, amount } = transaction.incoming;
  const { currency } = charge.terms;
  const returnId = returnIdOf(providerPaymentId);
  return { type: 'TransactionHeldRejected', data: { providerPaymentId, amount, currency, returnId, reason, by, at } };
};
