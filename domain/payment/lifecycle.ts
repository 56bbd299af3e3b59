// What happens to a payment by itself: it expires, its money is released, a rejected payment has gone back.
import { lastExpiry } from '../charge/instruments.ts';
import type { Decision } from '../kernel/decider.ts';
import { ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

type Recorded = 'recorded' | 'nothing';
const NOTHING = { events: [], reply: 'nothing' } as const;

/**
 * The expiry of the last instrument has come and the provider knows of no payment made in time: the caller asked it first (M4).
 * Money that arrived in any way, or another end, wins: nothing.
 */
export const expire =
  (now: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const isUnpaid = transaction.status === 'none' || transaction.status === 'processing';
    if (charge.status !== 'open' || !isUnpaid) return NOTHING;
    const expiresAt = lastExpiry(charge.instruments);
    if (expiresAt === null || now < expiresAt) return NOTHING;
    return { events: [{ type: 'ChargeExpired', data: { at: expiresAt } }], reply: 'recorded' };
  };

/** The hold of settled money is over (M2). Too early, twice, or nothing held: nothing. */
export const releaseFunds =
  (now: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { transaction } = assertExists(state);
    if (transaction.status !== 'settled' || transaction.releasedAt !== null) return NOTHING;
    const { availableAt, netAmount, currency } = transaction.settlement;
    if (availableAt === null || now < availableAt) return NOTHING;
    return {
      events: [{ type: 'TransactionFundsReleased', data: { amount: netAmount, currency, at: availableAt } }],
      reply: 'recorded',
    };
  };

/**
 * The provider accepted the return of a rejected payment, or confirms one that it had refused. Twice, or of one that was never to go back:
 * nothing. If the money went another way after the refusal, a late confirmation is recorded.
 */
export const recordReturn =
  (providerPaymentId: string, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((r) => r.providerPaymentId === providerPaymentId);
    if (seen === undefined || seen.returnId === null || seen.outcome === 'returned') return NOTHING;
    const { amount, outcome, late } = seen;
    if (late?.some(({ id }) => id === providerPaymentId)) return NOTHING;
    const data = { providerPaymentId, amount, currency: charge.terms.currency, at };
    if (outcome === 'rejected' || outcome === 'unreturned')
      return { events: [{ type: 'TransactionPaymentReturned', data }], reply: 'recorded' };
    return {
      events: [{ type: 'TransactionReturnConfirmedLate', data: { ...data, id: providerPaymentId, fee: ZERO } }],
      reply: 'recorded',
    };
  };

/**
 * The provider refuses the return that is named so: an operator decides what becomes of it. Twice, or of a return that is not, or not any
 * more, on its way under that name: nothing.
 */
export const recordReturnRefusal =
  (
    providerPaymentId: string,
    returnId: string,
    reason: string,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((r) => r.providerPaymentId === providerPaymentId);
    if (seen?.outcome !== 'rejected' || seen.returnId !== returnId) return NOTHING;
    const { amount } = seen;
    const { currency } = charge.terms;
    return {
      events: [{ type: 'TransactionReturnRefused', data: { providerPaymentId, amount, currency, reason, at } }],
      reply: 'recorded',
    };
  };
