// Refunds. The reservation in the payment's stream guards the refundable remainder: the sum of concurrent refunds and holds never exceeds
// the paid amount (architecture §4, E4, M1, M6–M8).

import type { PaymentMethod } from '../charge/methods.ts';
import type { Decision } from '../kernel/decider.ts';
import { type Fingerprinted, isSameRequest, newFingerprint } from '../kernel/fingerprint.ts';
import type { RefundId } from '../kernel/ids.ts';
import { least, type Minor, subtract, toMinor, ZERO } from '../kernel/money.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import type { RefundStrategy } from '../refund/refund.ts';
import { isDisputed, reservedForSettling } from '../transaction/disputes.ts';
import { payerTaxId } from '../transaction/incomingPayment.ts';
import { isAllBack, type RefundRecord, refundableRest } from '../transaction/refunds.ts';
import type { SettledTransaction } from '../transaction/transaction.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

/** Fee of a Pix-out, in centavos (M6). */
export const PIX_OUT_FEE = toMinor(50);
/** A Pix can be returned for this long after it was paid (M8). */
const DEVOLUTION_WINDOW_MS = 90 * DAY_MS;
/** Maximum per payment, including failed refunds (M7), because each enlarges the state that every read and command loads. */
export const REFUNDS_MAX = 100;
const REFUNDABLE_METHODS: readonly PaymentMethod[] = ['PIX', 'CREDIT_CARD'];

export interface ReserveRefund extends Fingerprinted {
  readonly refundId: RefundId;
  /** null for the full remainder. */
  readonly amount: Minor | null;
  /** The most that a refund of the whole rest takes; absent: the rest. */
  readonly restMax?: Minor;
  readonly reason: string | null;
  /** null for the default of Pix: `cashout` if the payment's provider pays out, otherwise `devolution` (M6a). */
  readonly strategy: 'devolution' | 'cashout' | null;
  readonly passFeeToTenant: boolean;
  /** A Pix key; null for the payer's document. */
  readonly destinationKey: string | null;
  /** Whether the payment's provider sends Pix payments; null while its connection is disabled. */
  readonly paysOut: boolean | null | 'removed';
  /** Pix keys that the account allows besides the payer's own document; null allows any (M7a). */
  readonly allowedDestinations: readonly string[] | null;
}

export interface Reserved {
  readonly refund: RefundRecord;
  readonly replayed: boolean;
}

/**
 * Reserves a refund. Checks in order: settled (`transaction_not_refundable`), the key (replayed, or `idempotency_key_reused`), not erased
 * (`payment_erased`), not disputed (`charge_disputed`), not fully refunded (`transaction_not_refundable`), a refundable method
 * (`REFUND_NOT_SUPPORTED`), the number of refunds (`refund_limit_reached`), the amount (`refund_amount_exceeds_remaining`), the reservation
 * for a mismatch (`charge_disputed`), window and destination (`REFUND_NOT_SUPPORTED`, or `invalid_request` for fields that apply to Pix
 * only).
 */
export const reserveRefund =
  (wish: ReserveRefund, at: Timestamp): Decision<PaymentState, PaymentEvent, Reserved> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    if (transaction.status !== 'settled')
      return reject('transaction_not_refundable', 'Only a settled payment can be refunded.');
    const before = transaction.refunds.find(({ refundId }) => refundId === wish.refundId);
    if (before) return replay(before, wish);
    if (charge.erasedAt !== undefined)
      return reject('payment_erased', 'The personal data of this payment was erased, so it can’t be refunded.');
    const { settlement, refunds, dispute } = transaction;
    if (isDisputed(dispute)) return reject('charge_disputed', 'A disputed payment can’t be refunded.');
    if (isAllBack(transaction)) return reject('transaction_not_refundable', 'This payment is already fully refunded.');
    const { method } = settlement;
    if (!REFUNDABLE_METHODS.includes(method)) return unsupported(`Payments by ${method} can’t be refunded.`);
    if (refunds.length >= REFUNDS_MAX)
      return reject('refund_limit_reached', `A payment can have at most ${REFUNDS_MAX} refunds.`);
    const rest = refundableRest(transaction);
    const amount = wish.amount ?? least(rest, wish.restMax ?? rest);
    if (amount > rest || amount === 0)
      return reject(
        'refund_amount_exceeds_remaining',
        `The amount exceeds the remaining refundable amount (${rest}).`,
        {
          param: 'amount',
        },
      );
    const reserved = reservedForSettling(dispute);
    if (reserved > 0 && subtract(rest, amount) < reserved)
      return reject(
        'charge_disputed',
        `A dispute case of this payment awaits review. Until then, refunds must leave at least ${reserved}.`,
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

/** Replies with the refund as it was reserved, regardless of later changes (K3). */
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
  if (wish.paysOut === 'removed')
    return unsupported('The provider connection of this payment was removed, so the payment can’t be refunded.');
  const isCashout = wish.strategy === 'cashout' || wish.destinationKey !== null;
  if (wish.paysOut === null && wish.strategy !== 'devolution')
    return reject('service_unavailable', 'The provider connection of this payment is disabled. Try again later.');
  if (!wish.paysOut && isCashout)
    return unsupported('The payment’s provider can’t send Pix payments. Use devolution, without destinationKey.');
  if (wish.strategy === 'devolution' || !wish.paysOut)
    return at > addMillis(incoming.paidAt, DEVOLUTION_WINDOW_MS)
      ? unsupported('A Pix can be returned only within 90 days of its payment. Use cashout instead.')
      : free('devolution');
  const ownDocument = payerTaxId(incoming);
  const destination = wish.destinationKey ?? ownDocument;
  if (destination === null)
    return unsupported('The payer’s document is unknown. Send destinationKey, or use devolution.');
  const isAllowed = destination === ownDocument || (wish.allowedDestinations?.includes(destination) ?? true);
  if (!isAllowed) return unsupported('The account does not allow cash-outs to this destination.');
  const feePaidBy = wish.passFeeToTenant ? 'merchant' : 'platform';
  const namedByMerchant = wish.destinationKey !== null;
  return { strategy: 'cashout', destination, namedByMerchant, fee: PIX_OUT_FEE, feePaidBy };
};

/** Rejects fields that apply only to Pix refunds instead of ignoring them. Returns null if the request has no such field. */
const onlyForPix = ({ strategy, destinationKey }: ReserveRefund): Rejection | null => {
  const param = strategy !== null ? 'strategy' : destinationKey !== null ? 'destinationKey' : null;
  return param === null ? null : reject('invalid_request', `${param} applies only to payments by PIX.`, { param });
};

type Recorded = 'recorded' | 'nothing';
const NOTHING = { events: [], reply: 'nothing' } as const;

const findRefund = (state: PaymentState, id: RefundId): RefundRecord | null => {
  const { transaction } = assertExists(state);
  return transaction.status === 'settled' ? (transaction.refunds.find((one) => one.refundId === id) ?? null) : null;
};

/** Records that the refund arrived, or a late confirmation if it had failed. No-op if already recorded or never reserved. */
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
 * Records that the refund failed and returns the money to the merchant. It can be refunded again unless disputed (M7, Q1). No-op if
 * already recorded or never reserved.
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
