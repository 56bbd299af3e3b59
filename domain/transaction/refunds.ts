// What was given back of a settled payment, and what may still be: refunds and dispute holds draw on one rest (architecture §4).
import type { Fingerprint } from '../kernel/fingerprint.ts';
import type { RefundId } from '../kernel/ids.ts';
import { add, type Minor, subtract, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type DisputeRecord, isDisputed } from './disputes.ts';
import type { LateConfirmation } from './heldSettlement.ts';

/** `devolution` returns the Pix by its end-to-end id, `cashout` is a Pix of our own; other methods go back by themselves. */
export type RefundStrategy = 'devolution' | 'cashout' | 'reversal';

/** What a refund asks for, fixed when it is reserved. */
export interface RefundTerms {
  readonly refundId: RefundId;
  readonly amount: Minor;
  readonly currency: string;
  readonly reason: string | null;
  readonly strategy: RefundStrategy;
  /** Where a cash-out goes: a Pix key (a payer's document is one too); null for the other strategies. */
  readonly destination: string | null;
  /** The merchant named the destination. False: it is the payer's document, which is never shown (M6), or there is none. */
  readonly namedByMerchant: boolean;
  /** Of the Pix-out (M6); 0 for the other strategies. */
  readonly fee: Minor;
  readonly feePaidBy: 'merchant' | 'platform';
}

export interface RefundRecord extends RefundTerms {
  readonly requestedAt: Timestamp;
  readonly fingerprint: Fingerprint;
  readonly outcome:
    | { readonly status: 'reserved' }
    | { readonly status: 'completed'; readonly endToEndId: string | null; readonly at: Timestamp }
    | { readonly status: 'failed'; readonly reason: string; readonly at: Timestamp };
  /** The provider confirmed it after it had failed. */
  readonly late?: LateConfirmation;
}

/** Returns what of the fee the merchant bears (M6, M11). */
export const feeOfMerchant = ({ fee, feePaidBy }: Pick<RefundTerms, 'fee' | 'feePaidBy'>): Minor =>
  feePaidBy === 'merchant' ? fee : ZERO;

const sumOf = (refunds: readonly RefundRecord[], statuses: readonly RefundRecord['outcome']['status'][]): Minor =>
  refunds.filter(({ outcome }) => statuses.includes(outcome.status)).reduce((sum, one) => add(sum, one.amount), ZERO);

/** Given back and confirmed. */
export const refundedAmount = (refunds: readonly RefundRecord[]): Minor => sumOf(refunds, ['completed']);

/** What of the paid amount is neither refunded nor on its way nor held back by a dispute. */
export const refundableRest = (paid: Minor, refunds: readonly RefundRecord[], dispute: DisputeRecord | null): Minor =>
  subtract(subtract(paid, sumOf(refunds, ['reserved', 'completed'])), isDisputed(dispute) ? dispute.amount : ZERO);
