// Creating a charge: the intent, then the instrument or the failure (K2, K3, K7).
import type { ChargeTerms, Fingerprint } from '../charge/charge.ts';
import type { PixInstrument } from '../charge/instruments.ts';
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, exists, type PaymentEvent, type PaymentState } from './payment.ts';

export type Creation = 'created' | 'replayed';

export interface CreateCharge {
  readonly terms: ChargeTerms;
  /** Hash of the request under the given rule version: a stored fingerprint is compared under its own version (K2). */
  readonly fingerprintUnder: (version: number) => string;
  readonly fingerprintVersion: number;
  /** Known already when no outside call is needed; null when the provider must be asked (K7). */
  readonly instrument: PixInstrument | null;
}

/** Order of checks: used key with other content → `idempotency_key_reused`; used key with the same → the original. */
export const createCharge =
  ({
    terms,
    fingerprintUnder,
    fingerprintVersion,
    instrument,
  }: CreateCharge): Decision<PaymentState, PaymentEvent, Creation> =>
  (state) => {
    if (exists(state)) {
      const { version, hash } = state.charge.fingerprint;
      return fingerprintUnder(version) === hash
        ? { events: [], reply: 'replayed' }
        : reject('idempotency_key_reused', 'This Idempotency-Key was already used with a different request.', {
            param: 'Idempotency-Key',
          });
    }
    const fingerprint: Fingerprint = { version: fingerprintVersion, hash: fingerprintUnder(fingerprintVersion) };
    const created: PaymentEvent = { type: 'ChargeCreated', data: { ...terms, fingerprint } };
    return { events: instrument ? [created, issued(instrument, terms.createdAt)] : [created], reply: 'created' };
  };

const issued = (instrument: PixInstrument, at: Timestamp): PaymentEvent => ({
  type: 'ChargePixIssued',
  data: { ...instrument, at },
});

/** The provider confirmed the instrument. Twice, or after the charge failed for lack of one: nothing. */
export const issueInstrument =
  (instrument: PixInstrument, at: Timestamp): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state) =>
    assertExists(state).charge.status === 'requested'
      ? { events: [issued(instrument, at)], reply: 'recorded' }
      : { events: [], reply: 'nothing' };

/** The provider refused the charge, or is known never to have made it. */
export const failCreation =
  (
    failure: { reason: string; providerErrorCode: string },
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state) =>
    assertExists(state).charge.status === 'requested'
      ? { events: [{ type: 'ChargeFailed', data: { ...failure, at } }], reply: 'recorded' }
      : { events: [], reply: 'nothing' };
