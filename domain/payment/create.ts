// Creates a payment: first the request, then its instruments or the failure (K2, K3, K7, P4).
import { type ChargeTerms, type Failure, pendingMethods } from '../charge/charge.ts';
import type { AcquirerInstrument, PixInstrument } from '../charge/instruments.ts';
import type { PaymentMethod } from '../charge/methods.ts';
import type { Decided, Decision } from '../kernel/decider.ts';
import { type Fingerprinted, isSameRequest, newFingerprint } from '../kernel/fingerprint.ts';
import type { ConnectionId } from '../kernel/ids.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import {
  assertExists,
  type ExistingPayment,
  exists,
  isAwaitingMoney,
  type PaymentEvent,
  type PaymentState,
} from './payment.ts';

export type Creation = 'created' | 'replayed';

export interface CreateCharge extends Fingerprinted {
  readonly terms: ChargeTerms;
  /** Set if the instrument needs no outside call; null if the provider must be asked (K7). */
  readonly instrument: PixInstrument | null;
  /** The header or body field in which the request carried the key. */
  readonly keyParam: 'Idempotency-Key' | 'idempotencyKey';
}

/** A key that was used with other content is rejected with `idempotency_key_reused`; with the same content, replays the original. */
export const createCharge =
  (wish: CreateCharge): Decision<PaymentState, PaymentEvent, Creation> =>
  (state) => {
    const { terms, instrument, keyParam } = wish;
    if (exists(state))
      return isSameRequest(state.charge.fingerprint, wish)
        ? { events: [], reply: 'replayed' }
        : reject('idempotency_key_reused', `This ${keyParam} was already used with a different request.`, {
            param: keyParam,
          });
    const created: PaymentEvent = { type: 'ChargeCreated', data: { ...terms, fingerprint: newFingerprint(wish) } };
    return { events: instrument ? [created, pixIssued(instrument, terms.createdAt)] : [created], reply: 'created' };
  };

const pixIssued = (instrument: PixInstrument, at: Timestamp): PaymentEvent => ({
  type: 'ChargePixIssued',
  data: { ...instrument, at },
});

/**
 * Moves a request to another connection, because the connection `from` certainly created nothing (V7). No-op if the request went
 * elsewhere, or has an instrument, in the meantime.
 */
export const rerouteCharge =
  (
    from: ConnectionId | null,
    to: ConnectionId,
    { reason, providerErrorCode }: Failure,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'rerouted' | 'nothing'> =>
  (state) => {
    const { charge } = assertExists(state);
    if (charge.status !== 'requested' || charge.terms.connectionId !== from) return { events: [], reply: 'nothing' };
    const data = { connectionId: to, reason, providerErrorCode, at };
    return { events: [{ type: 'ChargeRerouted', data }], reply: 'rerouted' };
  };

/** The provider's confirmed result for one method. */
export type Issuance =
  | { readonly method: 'PIX'; readonly instrument: PixInstrument }
  | { readonly method: AcquirerInstrument['method']; readonly instrument: AcquirerInstrument }
  | { readonly method: PaymentMethod; readonly refused: Failure };

/**
 * Records instruments that the provider confirmed or refused. The refusal of the last method fails the charge.
 * Ignores methods that are already recorded, and all methods once the charge has ended or is paid. Ignores the answers of a connection
 * `by` that the charge has left meanwhile: a payment of its code would match no charge.
 */
export const recordIssuances =
  (
    issuances: readonly Issuance[],
    at: Timestamp,
    by?: ConnectionId | null,
  ): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state): Decided<PaymentEvent, 'recorded' | 'nothing'> => {
    const payment = assertExists(state);
    const { charge } = payment;
    if (!isAwaitingMoney(payment)) return { events: [], reply: 'nothing' };
    if (by !== undefined && by !== charge.terms.connectionId) return { events: [], reply: 'nothing' };
    const pending = pendingMethods(charge);
    const newIssuances = issuances.filter(({ method }) => pending.includes(method));
    const events = newIssuances.map((issuance) => eventOf(issuance, at));
    const failure = finalRefusal(payment, newIssuances);
    if (failure !== null) return { events: [...events.slice(0, -1), failed(failure, at)], reply: 'recorded' };
    return { events, reply: events.length > 0 ? 'recorded' : 'nothing' };
  };

const failed = ({ reason, providerErrorCode }: Failure, at: Timestamp): PaymentEvent => ({
  type: 'ChargeFailed',
  data: { reason, providerErrorCode, at },
});

const eventOf = (issuance: Issuance, at: Timestamp): PaymentEvent => {
  if ('refused' in issuance) {
    const { reason, providerErrorCode } = issuance.refused;
    return { type: 'ChargeInstrumentRefused', data: { method: issuance.method, reason, providerErrorCode, at } };
  }
  return issuance.method === 'PIX'
    ? pixIssued(issuance.instrument, at)
    : { type: 'ChargeInstrumentIssued', data: { instrument: issuance.instrument, at } };
};

/** Returns the refusal that leaves the charge without any method, or null while another is issued or undecided. */
const finalRefusal = ({ charge }: ExistingPayment, news: readonly Issuance[]): Failure | null => {
  const last = news.at(-1);
  const isAllKnown = pendingMethods(charge).length === news.length;
  const isNoneIssued = charge.status === 'requested' && news.every((issuance) => 'refused' in issuance);
  return isAllKnown && isNoneIssued && last !== undefined && 'refused' in last ? last.refused : null;
};
