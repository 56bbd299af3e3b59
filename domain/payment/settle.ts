// Decides what happens to an incoming payment. The first matching rule wins; their order is part of the contract (architecture §3, M4, M5):
//   1 this end-to-end id is known              → duplicate, no-op
//   2 money has arrived already or is decided → returned, second_payment
//   3 paid after expiry, or the charge ended otherwise, was erased, or has no such instrument → returned, charge_ended
//   4 another amount                          → returned, wrong_amount
//   5 payer lock, payer unknown               → held (no document, or an invalid one: taxId.ts)
//   6 payer lock, another payer               → returned to the payer, the payment becomes refunded (payer_mismatch)
//   7                                         → settled
import { instrumentExpiry } from '../charge/instruments.ts';
import type { PaymentMethod } from '../charge/methods.ts';
import type { Decided, Decision } from '../kernel/decider.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import { chargeFees, type FeeSchedule } from '../transaction/fees.ts';
import {
  contradictsLock,
  type IncomingPayment,
  payerTaxId,
  type RejectionReason,
} from '../transaction/incomingPayment.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

export type SettleOutcome = 'settled' | 'returned' | 'refunded' | 'held' | 'duplicate';

/** Account settings that apply to settled money. */
export interface SettlementTerms {
  readonly fees: FeeSchedule;
  /** Days that settled money stays pending, per method; 0 for available at once (M2). */
  readonly holdDays: { readonly [Method in PaymentMethod]: number };
}

/** The provider's comparison with the expected payer of a lock, if it doesn't name the payer. */
export type PayerCheck = 'match' | 'mismatch' | 'unknown';

export interface SettleIncomingPayment extends SettlementTerms {
  readonly incoming: IncomingPayment;
  /** False: the amount contains a withdrawal or change, so it is not the price alone. */
  readonly isPlain: boolean;
  readonly payerCheck: PayerCheck;
  /** Id of the return at the provider, if there is one. */
  readonly returnId: string;
  /** Decision time, in account time. */
  readonly at: Timestamp;
}

export const settleIncomingPayment =
  (args: SettleIncomingPayment): Decision<PaymentState, PaymentEvent, SettleOutcome> =>
  (state): Decided<PaymentEvent, SettleOutcome> => {
    const payment = assertExists(state);
    const judged = judge(payment, args);
    const reply = outcomeOf(judged);
    if (judged === 'duplicate') return { events: [], reply };
    if (judged === 'settled') return { events: [settled(payment, args)], reply };
    return { events: [judged === 'held' ? held(payment, args) : rejected(payment, args, judged)], reply };
  };

/** Returns the outcome that `settleIncomingPayment` will have for the payment. */
export const settleOutcome = (payment: ExistingPayment, arrived: Arrived): SettleOutcome =>
  outcomeOf(judge(payment, arrived));

type Judgement = 'duplicate' | 'settled' | 'held' | RejectionReason;

type Arrived = Pick<SettleIncomingPayment, 'incoming' | 'isPlain' | 'payerCheck'>;

const judge = (payment: ExistingPayment, { incoming, isPlain, payerCheck: check }: Arrived): Judgement => {
  const { transaction, charge } = payment;
  if (transaction.incomingPayments.some((seen) => seen.providerPaymentId === incoming.providerPaymentId))
    return 'duplicate';
  if (hasMoney(payment)) return 'second_payment';
  if (isLate(payment, incoming)) return 'charge_ended';
  if (incoming.amount !== charge.terms.amount || !isPlain) return 'wrong_amount';
  const payer = judgePayer(payment, incoming, check);
  if (payer === 'unknown') return 'held';
  return payer === 'mismatch' ? 'payer_mismatch' : 'settled';
};

const outcomeOf = (judged: Judgement): SettleOutcome => {
  if (judged === 'duplicate' || judged === 'settled' || judged === 'held') return judged;
  return judged === 'payer_mismatch' ? 'refunded' : 'returned';
};

const judgePayer = ({ charge }: ExistingPayment, incoming: IncomingPayment, check: PayerCheck): PayerCheck => {
  const lock = charge.terms.expectedPayerTaxId;
  if (lock === null) return 'match';
  const taxId = payerTaxId(incoming);
  if (taxId === null) return contradictsLock(incoming, lock) ? 'mismatch' : check;
  return taxId === lock ? 'match' : 'mismatch';
};

const hasMoney = ({ transaction: { status } }: ExistingPayment): boolean =>
  status !== 'none' && status !== 'processing' && status !== 'refused';

/**
 * Returns whether the payment was made after the instrument's expiry (I8a), or the charge ended otherwise. Late reports of payments made
 * in time are accepted (M4).
 */
const isLate = ({ charge, transaction }: ExistingPayment, { method, paidAt }: IncomingPayment): boolean => {
  // The payer lock, if there was one, can't be checked any more, and a refund would be rejected (L4).
  if (charge.erasedAt !== undefined) return true;
  if (transaction.status === 'refused' || (charge.status !== 'open' && charge.status !== 'expired')) return true;
  const expiresAt = instrumentExpiry(charge.instruments, method);
  return expiresAt === null || paidAt > expiresAt;
};

const rejected = (
  payment: ExistingPayment,
  { incoming, returnId, at }: SettleIncomingPayment,
  reason: RejectionReason,
): PaymentEvent => ({
  type: 'TransactionPaymentRejected',
  data: { incoming, currency: payment.charge.terms.currency, reason, returnId, at },
});

const held = (payment: ExistingPayment, { incoming, at }: SettleIncomingPayment): PaymentEvent => ({
  type: 'TransactionHeld',
  data: { incoming, currency: payment.charge.terms.currency, at },
});

/** Returns the event that credits the incoming payment. It fixes the fees permanently (M1). */
export const settled = (
  payment: ExistingPayment,
  { incoming, fees, holdDays, at }: SettlementTerms & { readonly incoming: IncomingPayment; readonly at: Timestamp },
): PaymentEvent => {
  const days = holdDays[incoming.method];
  return {
    type: 'TransactionSettled',
    data: {
      incoming,
      method: incoming.method,
      currency: payment.charge.terms.currency,
      ...chargeFees(incoming.amount, fees[incoming.method]),
      availableAt: days === 0 ? null : addMillis(at, days * DAY_MS),
      at,
    },
  };
};
