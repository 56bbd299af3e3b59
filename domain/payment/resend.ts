// Resends the webhooks of the payment's present status (W8).
import type { Decision } from '../kernel/decider.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

/** Maximum resends per payment, including those that no endpoint subscribes to (M7). */
const RESENDS_MAX = 100;

interface ResendWish {
  /** Revision of the event that led to the present status. */
  readonly ofRevision: number;
  /** Whether any endpoint subscribed to that event's messages. Endpoints created later receive none. */
  readonly isWanted: boolean;
}

/** Records a resend and replies with its number, from 1. Every request counts. Rejects with `resend_limit_reached`. */
export const requestResend =
  ({ ofRevision, isWanted }: ResendWish, at: Timestamp): Decision<PaymentState, PaymentEvent, number> =>
  (state) => {
    const payment = assertExists(state);
    const refusal = notResendable(payment);
    if (refusal !== null) return refusal;
    const number = payment.charge.resends + 1;
    return {
      events: [{ type: 'ChargeWebhookResendRequested', data: { ofRevision, number, isWanted, at } }],
      reply: number,
    };
  };

export const notResendable = ({ charge }: Pick<ExistingPayment, 'charge'>): Rejection | null =>
  charge.resends < RESENDS_MAX
    ? null
    : reject('resend_limit_reached', `Webhooks of a payment can be resent at most ${RESENDS_MAX} times.`);
