// Giving money back. The reservation in the payment's stream guards the refundable rest: whatever runs at once, the sum of all
// refunds and holds never exceeds what was paid (architecture §4, E4, M1, M6–M8).

import type { PaymentMethod } from '../charge/methods.ts';
import type { Decision } from '../kernel/decider.ts';
import { type Fingerprinted, isSameRequest, newFingerprint } from '../kernel/fingerprint.ts';
import type { RefundId } from '../kernel/ids.ts';
import { type Minor, subtract, toMinor, ZERO } from '../kernel/money.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import type { RefundStrategy } from '../refund/refund.ts';
import { isDisputed, reservedForSettling } from '../transaction/disputes.ts';
import { payerTaxId } from '../transaction/incomingPayment.ts';
import { type RefundRecord, refundableRest, refundedAmount } from '../transaction/refunds.ts';
import type { SettledTransaction } from '../transaction/transaction.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

/** Fee of a Pix-out, in centavos (M6). */
export const PIX_OUT_FEE = toMinor(50);
/** How long after it was paid a Pix can be returned (M8). */
const DEVOLUTION_WINDOW_MS = 90 * DAY_MS;
/** Of a payment, those that failed included (M7): every one makes its state larger, which every read and command carries. */
export const REFUNDS_MAX = 100;
const REFUNDABLE_METHODS: readonly PaymentMethod[] = ['PIX', 'CREDIT_CARD'];

export interface ReserveRefund extends Fingerprinted {
  readonly refundId: RefundId;
  /** null: all that is left. */
  readonly amount: Minor | null;
  readonly reason: string | null;
  /** null: `cashout` for a Pix (contract.md Refund body). */
  readonly strategy: 'devolution' | 'cashout' | null;
  readonly passFeeToTenant: boolean;
  /** A Pix key; null: the payer's document. */
  readonly destinationKey: string | null;
  /** Where the account lets cash-outs go, beside the payer's own document; null: anywhere (M7a). */
  readonly allowedDestinations: readonly string[] | null;
}

export interface Reserved {
  readonly refund: RefundRecord;
  readonly replayed: boolean;
}

/**
 * Order of the checks: settled (`transaction_not_refundable`), the key (replayed, or `idempotency_key_reused`), not disputed
 * (`charge_disputed`), not fully refunded (`transaction_not_refundable`), by a method that can be refunded (`REFUND_NOT_SUPPORTED`),
 * their number (`refund_limit_reached`), the amount (`refund_amount_exceeds_remaining`), what a mismatch reserves (`charge_disputed`),
 * window and destination
 * (`REFUND_NOT_SUPPORTED`; `invalid_request` for what is of Pix only).
 */
export const reserveRefund =
  (wish: ReserveRefund, at: Timestamp): Decision<PaymentState, PaymentEvent, Reserved> =>
  (state) => {
    const { transaction } = assertExists(state);
    if (transaction.status !== 'settled')
      return reject('transaction_not_refundable', 'Only a settled payment can be refunded.');
    const before = transaction.refunds.find(({ refundId }) => refundId === wish.refundId);
    if (before) return replay(before, wish);
    const { settlement, refunds, dispute } = transaction;
    const paid = settlement.incoming.amount;
    if (isDisputed(dispute)) return reject('charge_disputed', 'A disputed payment can’t be refunded.');
    if (refundedAmount(refunds) === paid)
      return reject('transaction_not_refundable', 'This payment is fully refunded already.');
    const { method } = settlement;
    if (!REFUNDABLE_METHODS.includes(method)) return unsupported(`Payments by ${method} can’t be refunded.`);
    if (refunds.length >= REFUNDS_MAX)
      return reject('refund_limit_reached', `A payment can be refunded in at most ${REFUNDS_MAX} parts.`);
    const rest = refundableRest(paid, refunds, dispute);
    const amount = wish.amount ?? rest;
    if (amount > rest || amount === 0)
      return reject('refund_amount_exceeds_remaining', `Of this payment ${rest} can still be refunded.`, {
        param: 'amount',
      });
    const kept = reservedForSettling(dispute);
    if (kept > 0 && subtract(rest, amount) < kept)
      return reject(
        'charge_disputed',
        `A dispute case of this payment waits for a review. Until then refunds must leave ${kept} of it.`,
      );
    const route = routeOf(transaction, wish, at);
    if ('rejected' in route) return route;
    const { refundId, reason } = wish;
    const { currency } = settlement;
    const terms = { refundId, amount, currency, reason, ...route, fingerprint: newFingerprint(wish) };
    return {
      events: [{ type: 'TransactionRefundReserved', data: { ...terms, at } }],
      reply: { refund: { ...terms, requestedAt: at, outcome: { status: 'reserved' } }, replayed: false },
    };
  };

/** The refund as it was reserved, whatever became of it since (K3). */
const replay = (before: RefundRecord, wish: ReserveRefund) =>
  isSameRequest(before.fingerprint, wish)
    ? { events: [], reply: { refund: { ...before, outcome: { status: 'reserved' as const } }, replayed: true } }
    : reject('idempotency_key_reused', 'This idempotencyKey was already used with a different refund.', {
        param: 'idempotencyKey',
      });

type Route = Pick<RefundRecord, 'strategy' | 'destination' | 'namedByMerchant' | 'fee' | 'feePaidBy'>;
const unsupported = (message: string): Rejection => reject('REFUND_NOT_SUPPORTED', message);

const routeOf = ({ settlement }: SettledTransaction, wish: ReserveRefund, at: Timestamp): Route | Rejection => {
  const { method, incoming } = settlement;
  const free = (strategy: RefundStrategy): Route => ({
    strategy,
    destination: null,
    namedByMerchant: false,
    fee: ZERO,
    feePaidBy: 'platform',
  });
  if (method !== 'PIX') return onlyForPix(wish) ?? free('reversal');
  if (wish.strategy === 'devolution')
    return at > addMillis(incoming.paidAt, DEVOLUTION_WINDOW_MS)
      ? unsupported('A Pix can be returned within 90 days of its payment; refund it by cashout.')
      : free('devolution');
  const ownDocument = payerTaxId(incoming);
  const destination = wish.destinationKey ?? ownDocument;
  if (destination === null)
    return unsupported('The payer’s document is not known: send destinationKey, or use devolution.');
  const isAllowed = destination === ownDocument || (wish.allowedDestinations?.includes(destination) ?? true);
  if (!isAllowed) return unsupported('The account does not allow cash-outs to this destination.');
  const feePaidBy = wish.passFeeToTenant ? 'merchant' : 'platform';
  const namedByMerchant = wish.destinationKey !== null;
  return { strategy: 'cashout', destination, namedByMerchant, fee: PIX_OUT_FEE, feePaidBy };
};

/** Rejects fields that only a refund of a Pix can have, instead of ignoring them; null when there are none. */
const onlyForPix = ({ strategy, destinationKey }: ReserveRefund): Rejection | null => {
  const param = strategy !== null ? 'strategy' : destinationKey !== null ? 'destinationKey' : null;
  return param === null ? null : reject('invalid_request', `${param} is for payments by PIX only.`, { param });
};

type Recorded = 'recorded' | 'nothing';
const NOTHING = { events: [], reply: 'nothing' } as const;

const findRefund = (state: PaymentState, id: RefundId): RefundRecord | null => {
  const { transaction } = assertExists(state);
  return transaction.status === 'settled' ? (transaction.refunds.find((one) => one.refundId === id) ?? null) : null;
};

/** The payer has it. Known before, or never reserved: nothing. If it had failed, a late confirmation is recorded. */
export const completeRefund =
  (id: RefundId, endToEndId: string | null, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const refund = findRefund(state, id);
    if (refund === null || refund.outcome.status === 'completed' || refund.late !== undefined) return NOTHING;
    const { refundId, amount, currency, fee, feePaidBy } = refund;
    const data = { refundId, amount, currency, fee, endToEndId, at };
    return {
      events: [
        refund.outcome.status === 'reserved'
          ? { type: 'TransactionRefundCompleted', data: { ...data, feePaidBy } }
          : { type: 'TransactionRefundConfirmedLate', data },
      ],
      reply: 'recorded',
    };
  };

/**
 * It could not be given back: the merchant has it again, and it can be refunded again unless the payment is disputed meanwhile (M7, Q1).
 * Known before, or never reserved: nothing.
 */
export const releaseRefund =
  (id: RefundId, reason: string, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const refund = findRefund(state, id);
    if (refund?.outcome.status !== 'reserved') return NOTHING;
    const { refundId, amount, currency, fee, feePaidBy } = refund;
    const released: PaymentEvent = {
      type: 'TransactionRefundReleased',
      data: { refundId, amount, currency, fee, feePaidBy, reason, at },
    };
    return { events: [released], reply: 'recorded' };
  };
