// The groups of a payment's events, cut so that most consumers read one or two of them.
import type { ChargeEvent } from '../charge/charge.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { TransactionEvent } from '../transaction/transaction.ts';

export const PAYMENT_GROUPS = partition<ChargeEvent | TransactionEvent>()({
  demand: {
    creation: ['ChargeCreated'],
    cancellation: ['ChargeCancelRequested', 'ChargeCancelled'],
    end: ['ChargeExpired', 'ChargeFailed'],
    resend: ['ChargeWebhookResendRequested'],
  },
  instruments: {
    issued: ['ChargePixIssued', 'ChargeInstrumentIssued'],
    refused: ['ChargeInstrumentRefused'],
  },
  /** How the acquirer gets on with a method that doesn't pay at once. */
  attempts: ['TransactionProcessing', 'TransactionRefused'],
  money: {
    settlement: ['TransactionSettled'],
    release: ['TransactionFundsReleased'],
  },
  /** Payments that arrived and can't be credited as they are. */
  held: {
    uncredited: ['TransactionHeld', 'TransactionPaymentRejected'],
    review: ['TransactionHeldReleased', 'TransactionHeldRejected'],
  },
  /** The way of such a payment back to its payer, or into the platform's books. */
  returns: {
    order: ['TransactionReturnRefused', 'TransactionReturnRetried'],
    payout: ['TransactionHeldPayoutRequested', 'TransactionHeldPayoutFailed'],
    gone: ['TransactionPaymentReturned', 'TransactionHeldPayoutPaid', 'TransactionHeldWrittenOff'],
    /** What the provider confirms after it had refused it: of returns and of refunds. */
    late: ['TransactionReturnConfirmedLate', 'TransactionRefundConfirmedLate', 'TransactionLateConfirmationWrittenOff'],
  },
  refund: ['TransactionRefundReserved', 'TransactionRefundCompleted', 'TransactionRefundReleased'],
  dispute: {
    case: ['TransactionDisputeOpened', 'TransactionDisputeUpdated', 'TransactionDisputeReturned'],
    verdict: ['TransactionDisputeSettled', 'TransactionDisputeResolved'],
  },
});
