// Cancellation in two steps: the merchant requests it, and the provider confirms it. The first of cancellation and settlement in the
// stream wins, and a settlement wins over an unconfirmed request (contract.md Transitions, E4).
import type { Decision } from '../kernel/decider.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { heldRejected } from './held.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

/**
 * Records the request; the provider is then asked to cancel. No-op while a cancellation is in progress. Rejects with
 * `transaction_not_cancellable` if the payment is settled, has ended in any way, or is being returned (E4).
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
  // A held Pix is cancellable even if the charge has expired, because a Pix paid in time may be reported after the expiry (M4, M5).
  if (status === 'held' && charge.status !== 'cancelled') return null;
  return reject(
    'transaction_not_cancellable',
    status === 'settled'
      ? 'This payment is settled. Refund it instead.'
      : 'This payment has ended and can’t be cancelled.',
  );
};

/**
 * Records that the provider accepts no further payments for it. No-op if it was paid, expired or failed in the meantime. A held Pix is
 * returned under its `returnIdOf` (M5). `by` is the requester.
 */
export const recordCancelled =
  (
    {
      returnIdOf,
      by,
    }: { readonly returnIdOf: (providerPaymentId: string) => string; readonly by: 'merchant' | 'provider' },
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'cancelled' | 'nothing'> =>
  (state) => {
    const payment = assertExists(state);
    if (payment.charge.status === 'cancelled') return { events: [], reply: 'cancelled' };
    if (notCancellable(payment) !== null || payment.charge.cancelRequestedAt === null)
      return { events: [], reply: 'nothing' };
    const returnEvent = heldRejected(payment, returnIdOf, 'cancelled', 'merchant', at);
    const cancelled: PaymentEvent = { type: 'ChargeCancelled', data: { by, at } };
    // The Pix comes last: while it is held, the payment still shows as processing.
    return { events: returnEvent === null ? [cancelled] : [cancelled, returnEvent], reply: 'cancelled' };
  };
