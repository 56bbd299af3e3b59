// An operator settles a refused return by a Pix-out or a write-off (M10). Money that the provider confirmed after refusing it can only be
// written off, because it is gone.
import type { Decided, Decision } from '../kernel/decider.ts';
import type { RefundId } from '../kernel/ids.ts';
import { least, subtract, ZERO } from '../kernel/money.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type IncomingPaymentRecord, type LateConfirmation, leftOf } from '../transaction/incomingPayment.ts';
import type { TransactionState } from '../transaction/transaction.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';
import { PIX_OUT_FEE } from './refund.ts';

export interface SettleHeld {
  /** Pix key for the Pix-out; null to write the money off. */
  readonly pixOut: string | null;
  readonly reason: string;
  /** Id of the payment, Pix-out or refund to settle; null if there is only one. */
  readonly id: string | null;
  /** Returns the id of the Pix-out that replaces a return refused this many times. */
  readonly payoutIdOf: (providerPaymentId: string, refusals: number) => RefundId;
  readonly by: string;
}

/** Returns late confirmations that came after a refusal and await an operator. */
export const lateConfirmations = (transaction: TransactionState): readonly LateConfirmation[] => {
  const ofRefunds = transaction.status === 'settled' ? transaction.refunds.flatMap(({ late }) => late ?? []) : [];
  const ofReturns = transaction.incomingPayments.flatMap(({ late }) => late ?? []);
  return [...ofReturns, ...ofRefunds].filter(({ isWrittenOff }) => !isWrittenOff);
};

export const ALREADY_SETTLED = reject('held_already_settled', 'An operator already settled this money.');
const NOT_REFUSED = reject('invalid_request', 'This payment has no refused return to settle.');

/** Returns whether an operator has settled it, or is settling it. */
export const isSettledByOperator = ({ outcome, late = [] }: IncomingPaymentRecord): boolean =>
  outcome === 'payingOut' || outcome === 'paidOut' || outcome === 'writtenOff' || late.some((one) => one.isWrittenOff);

const wasSettled = ({ transaction }: ExistingPayment, isMeant: (id: string) => boolean): boolean =>
  transaction.incomingPayments.some(
    (one) => isSettledByOperator(one) && [one.providerPaymentId, ...(one.late ?? []).map(({ id }) => id)].some(isMeant),
  ) ||
  (transaction.status === 'settled' &&
    transaction.refunds.some(({ late }) => late?.isWrittenOff === true && isMeant(late.id)));

/**
 * Settles a refused return or late confirmation. Rejects with `held_already_settled` if it is already settled. Rejects with
 * `invalid_request` if none is pending, several are and no id is given, or a Pix-out is impossible (not BRL, or the money is gone).
 */
export const settleHeld =
  (wish: SettleHeld, at: Timestamp): Decision<PaymentState, PaymentEvent, 'settled'> =>
  (state): Decided<PaymentEvent, 'settled'> | Rejection => {
    const payment = assertExists(state);
    const { transaction } = payment;
    const isMeant = (id: string): boolean => wish.id === null || wish.id === id;
    const refused = transaction.incomingPayments.filter(
      ({ outcome, providerPaymentId }) => outcome === 'unreturned' && isMeant(providerPaymentId),
    );
    const late = lateConfirmations(transaction).filter(({ id }) => isMeant(id));
    const ids = new Set([...refused.map(({ providerPaymentId }) => providerPaymentId), ...late.map(({ id }) => id)]);
    if (ids.size === 0) return wasSettled(payment, isMeant) ? ALREADY_SETTLED : NOT_REFUSED;
    if (ids.size > 1)
      return reject(
        'invalid_request',
        `This payment has several amounts to settle. Name one of them: ${[...ids].join(', ')}.`,
        {
          param: 'providerPaymentId',
        },
      );
    const events =
      wish.pixOut === null
        ? writeOff(payment, wish, refused, late, at)
        : payOut(payment, wish, wish.pixOut, refused, at);
    return 'rejected' in events ? events : { events, reply: 'settled' };
  };

const payOut = (
  { charge }: ExistingPayment,
  { reason, by, payoutIdOf }: SettleHeld,
  destination: string,
  refused: readonly IncomingPaymentRecord[],
  at: Timestamp,
): readonly PaymentEvent[] | Rejection => {
  const { currency } = charge.terms;
  const param = 'pixOut';
  if (currency !== 'BRL') return reject('invalid_request', 'A Pix-out must be in BRL.', { param });
  if (charge.erasedAt !== undefined)
    return reject('payment_erased', 'The personal data of this payment was erased, so no Pix-out can be sent.', {
      param,
    });
  if (refused.length === 0 || refused.some(({ late }) => late !== undefined))
    return reject('invalid_request', 'The provider already paid this amount. Write it off.', { param });
  return refused.map((record): PaymentEvent => {
    const { providerPaymentId, refusal } = record;
    const amount = leftOf(record);
    const payoutId = payoutIdOf(providerPaymentId, refusal?.number ?? 0);
    const data = { providerPaymentId, payoutId, amount, currency, destination, fee: PIX_OUT_FEE, reason, by, at };
    return { type: 'TransactionHeldPayoutRequested', data };
  });
};

const writeOff = (
  { charge }: ExistingPayment,
  { reason, by }: SettleHeld,
  refused: readonly IncomingPaymentRecord[],
  late: readonly LateConfirmation[],
  at: Timestamp,
): readonly PaymentEvent[] => {
  const { currency } = charge.terms;
  return [
    ...refused.map((record): PaymentEvent => {
      const data = { providerPaymentId: record.providerPaymentId, amount: leftOf(record), currency, reason, by, at };
      return { type: 'TransactionHeldWrittenOff', data };
    }),
    ...late.map(({ id, amount }): PaymentEvent => {
      const data = { id, amount, currency, reason, by, at };
      return { type: 'TransactionLateConfirmationWrittenOff', data };
    }),
  ];
};

const NOTHING = { events: [], reply: 'nothing' } as const;
type Recorded = 'recorded' | 'nothing';

const findPayout = ({ transaction }: ExistingPayment, id: RefundId) => {
  for (const record of transaction.incomingPayments)
    for (const payout of record.payouts ?? []) if (payout.payoutId === id) return { record, payout };
  return null;
};

/**
 * Records that the provider paid the Pix-out. What is no longer owed, because it went elsewhere in the meantime, becomes a late
 * confirmation. No-op if already recorded or never requested.
 */
export const recordHeldPayoutPaid =
  (id: RefundId, endToEndId: string | null, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const payment = assertExists(state);
    const found = findPayout(payment, id);
    if (found === null || found.payout.outcome === 'paid') return NOTHING;
    const { record, payout } = found;
    if (record.late?.some((late) => late.id === id)) return NOTHING;
    const data = { providerPaymentId: record.providerPaymentId, currency: payment.charge.terms.currency, at };
    const { amount, fee, outcome } = payout;
    const isOwed = outcome === 'requested' || record.outcome === 'unreturned' || record.outcome === 'rejected';
    const owed = isOwed ? least(amount, leftOf(record)) : ZERO;
    const beyond = subtract(amount, owed);
    const paid: PaymentEvent = {
      type: 'TransactionHeldPayoutPaid',
      data: { ...data, amount: owed, fee, payoutId: id, endToEndId },
    };
    const late: PaymentEvent = {
      type: 'TransactionReturnConfirmedLate',
      data: { ...data, amount: beyond, fee: isOwed ? ZERO : fee, id, returnId: null },
    };
    return { events: [...(isOwed ? [paid] : []), ...(beyond > ZERO ? [late] : [])], reply: 'recorded' };
  };

/** Records that the provider refused the Pix-out, which an operator must settle again. No-op if already recorded or never requested. */
export const recordHeldPayoutFailed =
  (id: RefundId, reason: string, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const found = findPayout(assertExists(state), id);
    if (found?.payout.outcome !== 'requested') return NOTHING;
    const { providerPaymentId } = found.record;
    const data = { providerPaymentId, payoutId: id, reason, at };
    return { events: [{ type: 'TransactionHeldPayoutFailed', data }], reply: 'recorded' };
  };
