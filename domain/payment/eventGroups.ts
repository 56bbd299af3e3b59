// The groups of a payment's events, cut so that most consumers read one or two of them. Those of refunds, disputes and held payments stand
// with their events.
import type { ChargeEvent } from '../charge/charge.ts';
import { partition } from '../kernel/eventGroups.ts';
import { DISPUTE } from '../transaction/disputes.ts';
import { HELD_SETTLEMENT } from '../transaction/heldSettlement.ts';
import { REFUND_MOVEMENTS } from '../transaction/refunds.ts';
import type { TransactionEvent } from '../transaction/transaction.ts';

export const PAYMENT_GROUPS = partition<ChargeEvent | TransactionEvent>()({
  demand: {
    creation: ['ChargeCreated'],
    cancellation: ['ChargeCancelRequested', 'ChargeCancelled'],
    end: ['ChargeExpired', 'ChargeFailed'],
    resend: ['ChargeWebhookResendRequested'],
  },
  methods: {
    issued: ['ChargePixIssued', 'ChargeInstrumentIssued'],
    /** How the acquirer gets on with a method that doesn't pay at once. */
    attempts: ['ChargeInstrumentRefused', 'TransactionProcessing', 'TransactionRefused'],
  },
  money: {
    settlement: ['TransactionSettled'],
    release: ['TransactionFundsReleased'],
  },
  /** Payments that arrived and can't be credited as they are. */
  held: {
    hold: ['TransactionHeld'],
    approval: ['TransactionHeldReleased'],
    rejection: ['TransactionPaymentRejected', 'TransactionHeldRejected'],
  },
  /** The way of such a payment back to its payer, and what the provider confirms after it had refused it. */
  returns: {
    order: ['TransactionReturnRefused', 'TransactionReturnRetried'],
    back: ['TransactionPaymentReturned'],
    settling: HELD_SETTLEMENT.groups,
  },
  refund: REFUND_MOVEMENTS.groups,
  dispute: DISPUTE.groups,
});
