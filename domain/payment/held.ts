// A Pix held for review, because the bank named no payer for a locked charge: an operator lets it pass or sends it back (M5).
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';
import { type SettlementTerms, settled } from './settle.ts';

const NOT_HELD = reject('invalid_request', 'This payment is not held for review.');

/** `by`: who decided. Let pass before: nothing; returned before, or never held: `invalid_request`. */
export const releaseHeld =
  (
    terms: SettlementTerms,
    by: string,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'released' | 'already_released'> =>
  (state) => {
    const payment = assertExists(state);
    const { transaction } = payment;
    const wasReleased = transaction.receipts.some(({ reason }) => reason === 'released');
    if (transaction.status === 'settled' && wasReleased) return { events: [], reply: 'already_released' };
    if (transaction.status !== 'held') return NOT_HELD;
    const { endToEndId, amount } = transaction.receipt;
    const { currency } = payment.charge.terms;
    return {
      events: [
        { type: 'TransactionHeldReleased', data: { endToEndId, amount, currency, by, at } },
        settled(payment, { ...terms, receipt: transaction.receipt, at }),
      ],
      reply: 'released',
    };
  };

/** Sent back before: nothing; let pass before, or never held: `invalid_request`. */
export const returnHeld =
  (
    returnIdOf: (endToEndId: string) => string,
    by: string,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'returning' | 'already_returning'> =>
  (state) => {
    const payment = assertExists(state);
    const wasReturned = payment.transaction.receipts.some(({ reason }) => reason === 'operator');
    if (wasReturned) return { events: [], reply: 'already_returning' };
    const event = heldRejected(payment, returnIdOf, 'operator', by, at);
    return event === null ? NOT_HELD : { events: [event], reply: 'returning' };
  };

/** The held Pix on its way back, its return named by `returnIdOf`; null when none is held. */
export const heldRejected = (
  { transaction, charge }: ExistingPayment,
  returnIdOf: (endToEndId: string) => string,
  reason: 'operator' | 'cancelled',
  by: string,
  at: Timestamp,
): PaymentEvent | null => {
  if (transaction.status !== 'held') return null;
  const { endToEndId, amount } = transaction.receipt;
  const { currency } = charge.terms;
  const returnId = returnIdOf(endToEndId);
  return { type: 'TransactionHeldRejected', data: { endToEndId, amount, currency, returnId, reason, by, at } };
};
