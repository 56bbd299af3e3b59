// What was given back of a settled payment, and what may still be: refunds and dispute holds draw on one rest (architecture §4).
import type { Fact } from '../kernel/event.ts';
import { partition } from '../kernel/eventGroups.ts';
import { type Fingerprint, fingerprintShape } from '../kernel/fingerprint.ts';
import type { RefundId } from '../kernel/ids.ts';
import { add, type Minor, subtract, ZERO } from '../kernel/money.ts';
import { flag, money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { RefundStrategy } from '../refund/refund.ts';
import { type DisputeRecord, isDisputed } from './disputes.ts';
import type { LateConfirmation } from './incomingPayment.ts';

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

/** The merchant gives money back: it left the wallet, whatever becomes of it at the provider (M1). */
export type TransactionRefundReserved = Fact<
  'TransactionRefundReserved',
  RefundTerms & { readonly fingerprint: Fingerprint; readonly at: Timestamp }
>;
type Moved = Pick<RefundTerms, 'refundId' | 'amount' | 'currency' | 'fee' | 'feePaidBy'> & { readonly at: Timestamp };
/** The payer has it. `endToEndId`: of the return or of the Pix-out; null where the method has none. */
export type TransactionRefundCompleted = Fact<
  'TransactionRefundCompleted',
  Moved & { readonly endToEndId: string | null }
>;
/** The provider could not give it back: it is in the wallet and refundable again (M7, M7a). */
export type TransactionRefundReleased = Fact<'TransactionRefundReleased', Moved & { readonly reason: string }>;
export type RefundMovement = TransactionRefundReserved | TransactionRefundCompleted | TransactionRefundReleased;

export const REFUND_MOVEMENTS = partition<RefundMovement>()({
  reservation: ['TransactionRefundReserved'],
  outcome: ['TransactionRefundCompleted', 'TransactionRefundReleased'],
});

const fee = { fee: money, feePaidBy: oneOf('merchant', 'platform') };
const moved = { refundId: text<RefundId>(), amount: money, currency: text(), at: time, ...fee };
export const refundMovementSerde: SerdeTable<RefundMovement> = {
  TransactionRefundReserved: {
    version: 1,
    shape: record({
      refundId: text(),
      amount: money,
      currency: text(),
      reason: nullable(text()),
      strategy: oneOf('devolution', 'cashout', 'reversal'),
      destination: nullable(text()),
      namedByMerchant: flag,
      ...fee,
      fingerprint: fingerprintShape,
      at: time,
    }),
    personal: ['reason', 'destination'],
  },
  TransactionRefundCompleted: {
    version: 1,
    shape: record({ ...moved, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionRefundReleased: {
    version: 1,
    shape: record({ ...moved, reason: text() }),
    personal: [],
  },
};

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

const finished = (
  refunds: readonly RefundRecord[],
  refundId: RefundId,
  outcome: RefundRecord['outcome'],
): readonly RefundRecord[] => refunds.map((refund) => (refund.refundId === refundId ? { ...refund, outcome } : refund));

/** Returns the refunds of a settled payment after such an event. */
export const evolveRefunds = (refunds: readonly RefundRecord[], event: RefundMovement): readonly RefundRecord[] => {
  switch (event.type) {
    case 'TransactionRefundReserved': {
      const { at: requestedAt, ...terms } = event.data;
      return [...refunds, { ...terms, requestedAt, outcome: { status: 'reserved' } }];
    }
    case 'TransactionRefundCompleted': {
      const { refundId, endToEndId, at } = event.data;
      return finished(refunds, refundId, { status: 'completed', endToEndId, at });
    }
    case 'TransactionRefundReleased': {
      const { refundId, reason, at } = event.data;
      return finished(refunds, refundId, { status: 'failed', reason, at });
    }
    default:
      return event satisfies never;
  }
};
