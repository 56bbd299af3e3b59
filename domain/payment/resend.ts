// The merchant wants the webhooks of the payment's present status again (W8).
import type { Decision } from '../kernel/decider.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

/** `ofRevision`: the event that led to the present status. Every request is a resend of its own; the reply is its number. */
export const requestResend =
  (ofRevision: number, at: Timestamp): Decision<PaymentState, PaymentEvent, number> =>
  (state) => {
    const number = assertExists(state).charge.resends + 1;
    return {
      events: [{ type: 'ChargeWebhookResendRequested', data: { ofRevision, number, at } }],
      reply: number,
    };
  };
