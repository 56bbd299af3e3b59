// The error codes of payments: their refunds, disputes, limits and idempotency keys.
import { codes } from '../kernel/rejection.ts';

export const PAYMENT_ERRORS = {
  ...codes(400, {
    refund_limit_reached: 'The payment already has 100 refunds. Failed refunds count, too.',
    resend_limit_reached: 'The webhooks of the payment were already resent 100 times.',
    refund_amount_exceeds_remaining: 'The amount exceeds the remaining refundable amount of the payment.',
    transaction_not_refundable: 'The payment is not settled, or is already fully refunded.',
    transaction_not_cancellable: 'The payment is settled or has ended. Refund a settled payment instead.',
    charge_disputed: 'A disputed payment can’t be refunded.',
    charge_not_disputable:
      'The charge is not paid, is fully refunded, is already in a dispute case, or was lost in one.',
  }),
  ...codes(422, {
    REFUND_NOT_SUPPORTED:
      'The payment method, the time since settlement, or the destination does not allow this refund.',
  }),
  ...codes(403, {
    'fraud.customer_velocity_exceeded': 'Too many live charges for this customer within one hour.',
    'fraud.account_velocity_exceeded':
      'Too many live charges on this account within one hour, or live refunds or payouts that are too many or too large.',
  }),
  ...codes(409, {
    payment_not_final: 'The personal data of a payment or payout can’t be erased before it has ended.',
    retention_not_passed: 'The personal data must be kept until its retention has passed.',
    payment_erased: 'The personal data of the payment was erased, so that it can’t be refunded.',
    held_already_settled: 'An operator already settled the held money.',
    idempotency_key_reused: 'The idempotency key was used with a different request.',
    idempotency_request_in_progress: 'A request with this idempotency key is still running.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly payment: keyof typeof PAYMENT_ERRORS;
  }
}
