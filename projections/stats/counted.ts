// Which events statistics count: what was created, paid and refunded. Where payments stand is counted by their status instead; the
// others change none of these sums (rules T1, T2).
import { ignoringTypes } from '../../domain/kernel/event.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';

export const isCounted = ignoringTypes<PaymentEvent>()(
  'ChargePixIssued',
  'ChargeInstrumentIssued',
  'ChargeInstrumentRefused',
  'ChargeExpired',
  'ChargeFailed',
  'ChargeCancelRequested',
  'ChargeCancelled',
  'ChargeWebhookResendRequested',
  'TransactionProcessing',
  'TransactionRefused',
  'TransactionHeld',
  'TransactionHeldReleased',
  'TransactionHeldRejected',
  'TransactionPaymentRejected',
  'TransactionPaymentReturned',
  'TransactionReturnRefused',
  'TransactionReturnRetried',
  'TransactionFundsReleased',
  'TransactionRefundReserved',
  'TransactionRefundReleased',
  'TransactionDisputeOpened',
  'TransactionDisputeUpdated',
  'TransactionDisputeResolved',
);
