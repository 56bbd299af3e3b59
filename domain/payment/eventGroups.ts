// The groups of a payment's events, chosen so that most consumers read one or two of them. Groups are declared with their events.
import { type ChargeEvent, DEMAND } from '../charge/charge.ts';
import { partition } from '../kernel/eventGroups.ts';
import { DISPUTE } from '../transaction/disputes.ts';
import { HELD_SETTLEMENT } from '../transaction/heldSettlement.ts';
import { REFUND_MOVEMENTS } from '../transaction/refunds.ts';
import { HELD, MONEY, RETURNS, type TransactionEvent } from '../transaction/transaction.ts';
import type { PaymentPersonalDataErased } from './erasure.ts';

export const PAYMENT_GROUPS = partition<ChargeEvent | TransactionEvent | PaymentPersonalDataErased>()({
  demand: DEMAND.groups,
  methods: {
    issued: ['ChargePixIssued', 'ChargeInstrumentIssued'],
    /** Progress of a method that is not paid at once. */
    attempts: {
      unavailable: ['ChargeInstrumentRefused'],
      progress: ['TransactionProcessing', 'TransactionRefused'],
    },
  },
  money: MONEY.groups,
  /** Incoming payments that can't be credited directly. */
  held: HELD.groups,
  /** Returns of such payments to their payers, and late confirmations by the provider after a refusal. */
  returns: {
    ...RETURNS.groups,
    settling: HELD_SETTLEMENT.groups,
  },
  refund: REFUND_MOVEMENTS.groups,
  dispute: DISPUTE.groups,
  erasure: ['PaymentPersonalDataErased'],
});
