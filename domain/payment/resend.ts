// The merchant wants the webhooks of the payment's present status again (W8).
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

/** Resends of one payment, those that no endpoint wanted included (M7). */
const RESENDS_MAX = 100;

interface ResendWish {
  /** The event that led to the present status. */
  readonly ofRevision: number;
  /** Whether any endpoint wants a message of that event. Endpoints that are registered later get none. */
  readonly isWanted: boolean;
}

/** Records a resend and replies its number, from 1. Every request is a resend of its own. Rejects with `resend_limit_reached`. */
export const requestResend =
  ({ ofRevision, isWanted }: ResendWish, at: Timestamp): Decision<PaymentState, PaymentEvent, number> =>
  (state) => {
    const number = assertExists(state).charge.resends + 1;
    if (number > RESENDS_MAX)
      return reject('resend_limit_reached', `Webhooks of a payment can be asked for again ${RESENDS_MAX} times.`);
    return {
      events: [{ type: 'ChargeWebhookResendRequested', data: { ofRevision, number, isWanted, at } }],
      reply: number,
    };
  };
