// The groups of a payment's events, cut so that most consumers read one or two of them. Each stands with its events.
import { type ChargeEvent, DEMAND } from '../charge/charge.ts';
import { partition } from '../kernel/eventGroups.ts';
import { DISPUTE } from '../transaction/disputes.ts';
import { HELD_SETTLEMENT } from '../transaction/heldSettlement.ts';
import { REFUND_MOVEMENTS } from '../transaction/refunds.ts';
import { HELD, MONEY, RETURNS, type TransactionEvent } from '../transaction/transaction.ts';

export const PAYMENT_GROUPS = partition<ChargeEvent | TransactionEvent>()({
  demand: DEMAND.groups,
  methods: {
    issued: ['ChargePixIssued', 'ChargeInstrumentIssued'],
    /** How the acquirer gets on with a method that doesn't pay at once. */
    attempts: ['ChargeInstrumentRefused', 'TransactionProcessing', 'TransactionRefused'],
  },
  money: MONEY.groups,
  /** Payments that arrived and can't be credited as they are. */
  held: HELD.groups,
  /** The way of such a payment back to its payer, and what the provider confirms after it had refused it. */
  returns: {
    ...RETURNS.groups,
    settling: HELD_SETTLEMENT.groups,
  },
  refund: REFUND_MOVEMENTS.groups,
  dispute: DISPUTE.groups,
});
