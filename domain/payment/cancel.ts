// Cancelling in two steps: the merchant's wish is recorded; when the provider has confirmed it, the cancellation. Of cancellation and
// settlement the first in the stream wins, and a settlement wins over a mere wish (contract.md Transitions, E4).
import type { Decision } from '../kernel/decider.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { heldRejected } from './held.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

/**
 * Records the wish, on which the provider is asked to cancel. A repeat while that is under way records nothing. Rejects with
 * `transaction_not_cancellable` when the payment is settled, has ended (by an earlier cancellation too), or is being returned (E4).
 */
export const requestCancel =
  (at: Timestamp): Decision<PaymentState, PaymentEvent, 'requested'> =>
  (state) => {
    const payment = assertExists(state);
    const refusal = notCancellable(payment);
    if (refusal !== null) return refusal;
    if (payment.charge.cancelRequestedAt !== null) return { events: [], reply: 'requested' };
    return { events: [{ type: 'ChargeCancelRequested', data: { at } }], reply: 'requested' };
  };

export const notCancellable = ({ charge, transaction }: ExistingPayment): Rejection | null => {
  const { status } = transaction;
  const isAlive = charge.status === 'requested' || charge.status === 'open';
  if (isAlive && (status === 'none' || status === 'processing')) return null;
  // Held counts whatever became of the charge: a Pix paid in time may be heard of after the expiry (M4, M5).
  if (status === 'held' && charge.status !== 'cancelled') return null;
  return reject(
    'transaction_not_cancellable',
    status === 'settled'
      ? 'This payment is settled: refund it instead.'
      : 'This payment has ended and can’t be cancelled.',
  );
};

/**
 * The provider takes no more money for it. Paid, expired or failed meanwhile: nothing. A held Pix goes back under its `returnIdOf` (M5).
 * `by`: who asked for it.
 */
export const recordCancelled =
  (
    { returnIdOf, by }: { readonly returnIdOf: (providerPaymentId: string) => string; readonly by: string },
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'cancelled' | 'nothing'> =>
  (state) => {
    const payment = assertExists(state);
    if (payment.charge.status === 'cancelled') return { events: [], reply: 'cancelled' };
    if (notCancellable(payment) !== null || payment.charge.cancelRequestedAt === null)
      return { events: [], reply: 'nothing' };
    const back = heldRejected(payment, returnIdOf, 'cancelled', by, at);
    const cancelled: PaymentEvent = { type: 'ChargeCancelled', data: { at } };
    // The Pix last: while it is held, the payment still reads as being processed.
    return { events: back === null ? [cancelled] : [cancelled, back], reply: 'cancelled' };
  };
