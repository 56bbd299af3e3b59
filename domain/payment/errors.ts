// The error codes of payments, their refunds and their idempotency keys.
import { codes } from '../kernel/rejection.ts';

export const PAYMENT_ERRORS = {
  ...codes(400, {
    refund_limit_reached: 'The payment has 100 refunds, including failed ones.',
    resend_limit_reached: 'The webhooks of the payment were resent 100 times.',
    refund_amount_exceeds_remaining: 'The refund exceeds the remaining refundable amount of the payment.',
    transaction_not_refundable: 'The payment is not settled, or is already fully refunded.',
    transaction_not_cancellable: 'The payment is settled or has ended. Refund a settled payment instead.',
    charge_disputed: 'A disputed payment can’t be refunded.',
    charge_not_disputable: 'The charge is unpaid, already disputed, lost in a dispute, or fully refunded.',
  }),
  ...codes(422, {
    REFUND_NOT_SUPPORTED: 'The method, the time since settlement or the destination does not allow this refund.',
  }),
  ...codes(403, {
    'fraud.customer_velocity_exceeded': 'Too many live charges of this customer within an hour.',
    'fraud.account_velocity_exceeded':
      'Too many live charges of this account within an hour, or too many or too large live refunds or payouts.',
  }),
  ...codes(409, {
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
