// Which events statistics count: what was created, paid, refunded and lost in disputes. Where payments stand is counted by their status
// instead; the others change none of these sums (rules T1, T2).

import { ignoringTypes } from '../../domain/kernel/event.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { HELD_SETTLEMENT } from '../../domain/transaction/heldSettlement.ts';

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
  ...HELD_SETTLEMENT,
  'TransactionFundsReleased',
  'TransactionRefundReserved',
  'TransactionRefundReleased',
  'TransactionDisputeOpened',
  'TransactionDisputeUpdated',
  'TransactionDisputeReturned',
);
