// The charge: the merchant's request for payment, and its end. Money movements are in transaction/.

import { type Decider, type Fact, ignore } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import { type Fingerprint, fingerprintShape } from '../kernel/fingerprint.ts';
import type { ConnectionId, PaymentId, Tenant } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { Minor } from '../kernel/money.ts';
import {
  flag,
  freeForm,
  integer,
  listOf,
  money,
  nullable,
  oneOf,
  record,
  type SerdeTable,
  text,
  time,
} from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import {
  type AcquirerInstrument,
  acquirerInstrument,
  hasInstrument,
  type Instruments,
  NO_INSTRUMENTS,
  PERSONAL_INSTRUMENT_FIELDS,
  type PixInstrument,
} from './instruments.ts';
import { PAYMENT_METHODS, type PaymentMethod } from './methods.ts';

/** As submitted, punctuation included. Fields that were not sent are null (rule I5). */
export interface Customer {
  readonly name: string | null;
  readonly document: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** Terms of the charge, fixed at creation. */
export interface ChargeTerms extends Tenant {
  readonly paymentId: PaymentId;
  readonly amount: Minor;
  readonly currency: string;
  /** In the order in which the request listed them. */
  readonly methods: readonly PaymentMethod[];
  readonly customer: Customer;
  /** The merchant's own customer id, echoed in webhooks (W10). */
  readonly customerId: string | null;
  /** Without reserved keys; the description is folded in (I11). */
  readonly metadata: { readonly [key: string]: Json };
  /** The payer lock: CPF or CNPJ without punctuation (E3). */
  readonly expectedPayerTaxId: string | null;
  /** Lifetime of the Pix code; other methods have their own lifetimes (P5). */
  readonly expiresInSeconds: number;
  /** Idempotency key towards the provider, so that a repeated request creates one instrument. 32 characters `[a-z0-9]` (I3). */
  readonly txid: string;
  /** PUBLIC_URL at creation, so that a charge's links never change (K3). */
  readonly baseUrl: string;
  /** API that created it: `/v1/charges` issues the instrument within the request, `/v1/payments` in a job (P4). */
  readonly api: 'charges' | 'payments';
  /** Receives this payment's events instead of the account's endpoints (W7). */
  readonly webhookUrl: string | null;
  /** The provider connection that issues its instruments; null: the sandbox's bank. All later calls go to this connection. */
  readonly connectionId: ConnectionId | null;
  readonly createdAt: Timestamp;
}

export interface Failure {
  /** Free text. A provider's own words may name the payer, so events seal it. */
  readonly reason: string;
  readonly providerErrorCode: string;
}

/** The merchant requested a payment. This is stored before any outside call, so the pay code may not exist yet (K7). */
export type ChargeCreated = Fact<'ChargeCreated', ChargeTerms & { readonly fingerprint: Fingerprint }>;
/** The previous connection certainly created nothing, so the request goes to another one (V7). */
export type ChargeRerouted = Fact<
  'ChargeRerouted',
  Failure & { readonly connectionId: ConnectionId; readonly at: Timestamp }
>;
/** The provider issued a Pix pay code; the payer can now pay. */
export type ChargePixIssued = Fact<'ChargePixIssued', PixInstrument & { readonly at: Timestamp }>;
/** An acquirer issued the instrument of another method; the payer can now pay with it. */
export type ChargeInstrumentIssued = Fact<
  'ChargeInstrumentIssued',
  { readonly instrument: AcquirerInstrument; readonly at: Timestamp }
>;
/** One of several methods is unavailable; the charge continues with the others. */
export type ChargeInstrumentRefused = Fact<
  'ChargeInstrumentRefused',
  Failure & { readonly method: PaymentMethod; readonly at: Timestamp }
>;
/** The charge expired unpaid, confirmed by the provider (M4). Money may still arrive later. */
export type ChargeExpired = Fact<'ChargeExpired', { readonly at: Timestamp }>;
/** The provider refused to create any instrument, or never confirmed that it created one (K7). */
export type ChargeFailed = Fact<'ChargeFailed', Failure & { readonly at: Timestamp }>;
/** The merchant requested cancellation. The provider decides whether the payer was faster. */
export type ChargeCancelRequested = Fact<'ChargeCancelRequested', { readonly at: Timestamp }>;
/** The charge was cancelled and can't be paid. `by`: who cancelled it at the provider. */
export type ChargeCancelled = Fact<'ChargeCancelled', { readonly by: 'merchant' | 'provider'; readonly at: Timestamp }>;
/** The merchant requested a resend of the webhooks of the event at `ofRevision` (W8). If not `isWanted`, no endpoint subscribes to it. */
export type ChargeWebhookResendRequested = Fact<
  'ChargeWebhookResendRequested',
  { readonly ofRevision: number; readonly number: number; readonly isWanted: boolean; readonly at: Timestamp }
>;

export type ChargeEvent =
  | ChargeCreated
  | ChargeRerouted
  | ChargePixIssued
  | ChargeInstrumentIssued
  | ChargeInstrumentRefused
  | ChargeExpired
  | ChargeFailed
  | ChargeCancelRequested
  | ChargeCancelled
  | ChargeWebhookResendRequested;

export const DEMAND = partition<
  Exclude<ChargeEvent, ChargePixIssued | ChargeInstrumentIssued | ChargeInstrumentRefused>
>()({
  creation: ['ChargeCreated'],
  routing: ['ChargeRerouted'],
  cancellation: ['ChargeCancelRequested', 'ChargeCancelled'],
  end: ['ChargeExpired', 'ChargeFailed'],
  resend: ['ChargeWebhookResendRequested'],
});

/** Reason why a charge ended unpaid (`metadata.failure` of the interface). */
export interface ChargeFailure extends Failure {
  readonly at: Timestamp;
}

interface Existing {
  readonly terms: ChargeTerms;
  readonly fingerprint: Fingerprint;
  readonly instruments: Instruments;
  readonly refusedMethods: readonly PaymentMethod[];
  /** null if no cancellation was requested. */
  readonly cancelRequestedAt: Timestamp | null;
  /** Number of requested resends of its webhooks. */
  readonly resends: number;
  /** When the payment's personal data was erased; absent if it was not (L2). */
  readonly erasedAt?: Timestamp;
}
export type ChargeState =
  | { readonly status: 'absent' }
  /** Stored, but no instrument is confirmed yet. */
  | (Existing & { readonly status: 'requested' })
  | (Existing & { readonly status: 'open' })
  | (Existing & { readonly status: 'expired' | 'cancelled' | 'failed'; readonly failure: ChargeFailure });

const evolve = (state: ChargeState, event: ChargeEvent): ChargeState => {
  if (event.type === 'ChargeCreated') {
    const { fingerprint, ...terms } = event.data;
    const fresh = { refusedMethods: [], cancelRequestedAt: null, resends: 0 };
    return { status: 'requested', terms, fingerprint, instruments: NO_INSTRUMENTS, ...fresh };
  }
  return state.status === 'absent' ? state : evolveExisting(state, event);
};

const evolveExisting = (
  state: Exclude<ChargeState, { status: 'absent' }>,
  event: Exclude<ChargeEvent, ChargeCreated>,
): ChargeState => {
  switch (event.type) {
    case 'ChargeRerouted':
      return state.status === 'requested'
        ? { ...state, terms: { ...state.terms, connectionId: event.data.connectionId } }
        : state;
    case 'ChargePixIssued': {
      const { at: _, ...pix } = event.data;
      return isAlive(state) ? { ...state, status: 'open', instruments: { ...state.instruments, pix } } : state;
    }
    case 'ChargeInstrumentIssued': {
      const acquirerInstruments = [...state.instruments.acquirerInstruments, event.data.instrument];
      return isAlive(state)
        ? { ...state, status: 'open', instruments: { ...state.instruments, acquirerInstruments } }
        : state;
    }
    case 'ChargeInstrumentRefused':
      return { ...state, refusedMethods: [...state.refusedMethods, event.data.method] };
    case 'ChargeExpired': // clears the cancel request, which must not apply to a Pix held later
      return state.status === 'open'
        ? ended({ ...state, cancelRequestedAt: null }, 'expired', EXPIRED, event.data.at)
        : state;
    case 'ChargeFailed':
      return state.status === 'requested' ? ended(state, 'failed', event.data, event.data.at) : state;
    case 'ChargeCancelRequested':
      return isAlive(state) || state.status === 'expired' ? { ...state, cancelRequestedAt: event.data.at } : state;
    case 'ChargeCancelled': // if it had expired, the Pix held for it is returned
      return isAlive(state) || state.status === 'expired'
        ? ended(state, 'cancelled', CANCELLED[event.data.by], event.data.at)
        : state;
    case 'ChargeWebhookResendRequested':
      return { ...state, resends: event.data.number };
    default:
      return ignore(state, event);
  }
};

type Alive = Extract<ChargeState, { status: 'requested' | 'open' }>;
const isAlive = (state: ChargeState): state is Alive => state.status === 'requested' || state.status === 'open';

const EXPIRED: Failure = { reason: 'The payment expired before anybody paid.', providerErrorCode: 'expired' };
const CANCELLED: { readonly [By in ChargeCancelled['data']['by']]: Failure } = {
  merchant: { reason: 'The merchant cancelled the payment.', providerErrorCode: 'canceled' },
  provider: { reason: 'The provider removed the charge.', providerErrorCode: 'removed_by_provider' },
};

const ended = (
  state: Existing,
  status: 'expired' | 'cancelled' | 'failed',
  { reason, providerErrorCode }: Failure,
  at: Timestamp,
): ChargeState => ({ ...state, status, failure: { reason, providerErrorCode, at } });

export const charge: Decider<ChargeState, ChargeEvent> = { initial: { status: 'absent' }, evolve };

/** Returns the methods whose availability the provider has not confirmed yet. */
export const pendingMethods = ({
  terms,
  instruments,
  refusedMethods,
}: Exclude<ChargeState, { status: 'absent' }>): readonly PaymentMethod[] =>
  terms.methods.filter((method) => !refusedMethods.includes(method) && !hasInstrument(instruments, method));

// --- Stored format: changing a shape requires a new version with an upcast; golden files are in test/domain/golden ---

const optionalText = nullable(text());
const method = oneOf(...PAYMENT_METHODS);
const customer = record<Customer>({
  name: optionalText,
  document: optionalText,
  email: optionalText,
  phone: optionalText,
});

export const chargeSerde: SerdeTable<ChargeEvent> = {
  ChargeCreated: {
    version: 1,
    shape: record<ChargeTerms & { fingerprint: Fingerprint }>({
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      amount: money,
      currency: text(),
      methods: listOf(method),
      customer,
      customerId: optionalText,
      metadata: freeForm(),
      expectedPayerTaxId: optionalText,
      expiresInSeconds: integer,
      txid: text(),
      baseUrl: text(),
      api: oneOf('charges', 'payments'),
      webhookUrl: optionalText,
      connectionId: nullable(text()),
      createdAt: time,
      fingerprint: fingerprintShape,
    }),
    // A webhookUrl is the merchant's own address, and permanently determines the destination of messages.
    personal: ['customer', 'customerId', 'metadata', 'expectedPayerTaxId'],
    unsaid: {
      paymentId: { is: 'subject' },
      accountId: { is: 'account' },
      mode: { is: 'mode' },
      'customer.phone': { usually: null },
      customerId: { usually: null },
      expectedPayerTaxId: { usually: null },
      webhookUrl: { usually: null },
      connectionId: { usually: null },
    },
  },
  ChargeRerouted: {
    version: 1,
    shape: record({ connectionId: text(), reason: text(), providerErrorCode: text(), at: time }),
    personal: ['reason'],
  },
  ChargePixIssued: {
    version: 1,
    shape: record({ provider: text(), txid: text(), brCode: text(), expiresAt: time, at: time }),
    personal: [],
  },
  ChargeInstrumentIssued: {
    version: 1,
    shape: record({ instrument: acquirerInstrument, at: time }),
    personal: PERSONAL_INSTRUMENT_FIELDS.map((field) => `instrument.${field}`),
  },
  ChargeInstrumentRefused: {
    version: 1,
    shape: record({ method, reason: text(), providerErrorCode: text(), at: time }),
    personal: ['reason'],
  },
  ChargeExpired: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeFailed: {
    version: 1,
    shape: record({ reason: text(), providerErrorCode: text(), at: time }),
    personal: ['reason'],
  },
  ChargeCancelRequested: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeCancelled: {
    version: 1,
    shape: record({ by: oneOf('merchant', 'provider'), at: time }),
    personal: [],
    unsaid: { by: { usually: 'merchant' } },
  },
  ChargeWebhookResendRequested: {
    version: 1,
    shape: record({ ofRevision: integer, number: integer, isWanted: flag, at: time }),
    personal: [],
  },
};
