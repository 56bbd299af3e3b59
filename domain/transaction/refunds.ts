// Refunds of a settled payment and its refundable remainder, which refunds and dispute holds share (architecture §4).
import type { Fact } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import { type Fingerprint, fingerprintShape } from '../kernel/fingerprint.ts';
import type { RefundId } from '../kernel/ids.ts';
import { add, type Minor, most, subtract, ZERO } from '../kernel/money.ts';
import { flag, money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { RefundStrategy } from '../refund/refund.ts';
import { type DisputeRecord, isDisputed, lostBefore } from './disputes.ts';
import { type IncomingPaymentRecord, type LateConfirmation, leftOf } from './incomingPayment.ts';

/** Terms of a refund, fixed when it is reserved. */
export interface RefundTerms {
  readonly refundId: RefundId;
  readonly amount: Minor;
  readonly currency: string;
  readonly reason: string | null;
  readonly strategy: RefundStrategy;
  /** Pix key that receives a cash-out (the payer's document is one, too); null for other strategies. */
  readonly destination: string | null;
  /** Whether the merchant named the destination. Otherwise it is the payer's document, which is never shown (M6), or null. */
  readonly namedByMerchant: boolean;
  /** Fee of the Pix-out (M6); 0 for other strategies. */
  readonly fee: Minor;
  readonly feePaidBy: 'merchant' | 'platform';
}

/** The merchant requested a refund. The money left the wallet, whatever the provider does (M1). */
export type TransactionRefundReserved = Fact<
  'TransactionRefundReserved',
  RefundTerms & { readonly fingerprint: Fingerprint; readonly at: Timestamp }
>;
type Moved = Pick<RefundTerms, 'refundId' | 'amount' | 'currency' | 'fee' | 'feePaidBy'> & { readonly at: Timestamp };
/** The payer has the money. `endToEndId` is that of the return or Pix-out; null for methods without one. */
export type TransactionRefundCompleted = Fact<
  'TransactionRefundCompleted',
  Moved & { readonly endToEndId: string | null }
>;
/** The provider could not refund it. The money is in the wallet and refundable again (M7, M7a). */
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
    personal: ['reason'],
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

/** Returns the part of the fee that the merchant bears (M6, M11). */
export const feeOfMerchant = ({ fee, feePaidBy }: Pick<RefundTerms, 'fee' | 'feePaidBy'>): Minor =>
  feePaidBy === 'merchant' ? fee : ZERO;

const sumOf = (refunds: readonly RefundRecord[], statuses: readonly RefundRecord['outcome']['status'][]): Minor =>
  refunds.filter(({ outcome }) => statuses.includes(outcome.status)).reduce((sum, one) => add(sum, one.amount), ZERO);

/** Returns the sum of completed refunds. */
export const refundedAmount = (refunds: readonly RefundRecord[]): Minor => sumOf(refunds, ['completed']);

/** The parts of a settled payment on which its refundable remainder depends. */
export interface Refundable {
  readonly settlement: { readonly incoming: { readonly amount: Minor; readonly providerPaymentId: string } };
  readonly incomingPayments: readonly IncomingPaymentRecord[];
  readonly refunds: readonly RefundRecord[];
  readonly dispute: DisputeRecord | null;
}

/** Returns the paid amount less its returns outside Quita. */
export const leftOfPaid = ({ settlement: { incoming }, incomingPayments }: Refundable): Minor => {
  const seen = incomingPayments.find((one) => one.providerPaymentId === incoming.providerPaymentId);
  return leftOf(seen ?? incoming);
};

/** Returns whether the payer has all of it back: by refunds, or by returns outside Quita. */
export const isAllBack = (payment: Refundable): boolean => refundedAmount(payment.refunds) >= leftOfPaid(payment);

/**
 * Returns the paid amount less refunds (completed or in progress), returns outside Quita, and amounts that disputes hold or took. Never
 * negative, although a refund and a return from outside can overlap.
 */
export const refundableRest = (payment: Refundable): Minor => {
  const { refunds, dispute } = payment;
  const disputed = add(lostBefore(dispute), isDisputed(dispute) ? dispute.amount : ZERO);
  const rest = subtract(subtract(leftOfPaid(payment), sumOf(refunds, ['reserved', 'completed'])), disputed);
  return most(rest, ZERO);
};

/** Returns the amount of the payment that its bank can still return. A Pix-out doesn't reduce it. */
export const leftAtBank = (payment: Refundable): Minor => {
  const devolutions = payment.refunds.filter(({ strategy }) => strategy === 'devolution');
  return subtract(leftOfPaid(payment), sumOf(devolutions, ['reserved', 'completed']));
};

/** Returns the sum of refunds that are under way. */
export const reservedAmount = (refunds: readonly RefundRecord[]): Minor => sumOf(refunds, ['reserved']);

const finished = (
  refunds: readonly RefundRecord[],
  refundId: RefundId,
  outcome: RefundRecord['outcome'],
): readonly RefundRecord[] => refunds.map((refund) => (refund.refundId === refundId ? { ...refund, outcome } : refund));

/** Returns the refunds of a settled payment after the event. */
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
