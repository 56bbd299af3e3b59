// The demand: what the merchant asks the payer for, and how that demand ends. What happened to the money is in transaction/.
import { type Decider, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, Mode, PaymentId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import type { Json } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { PixInstrument } from './instruments.ts';
import type { PaymentMethod } from './methods.ts';

/** As submitted, masks and all; what was not sent is null (decisions I5). */
export interface Customer {
  readonly name: string | null;
  readonly document: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** What was asked for. Fixed at creation. */
export interface ChargeTerms {
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly amount: Minor;
  readonly currency: string;
  readonly methods: readonly PaymentMethod[];
  readonly customer: Customer;
  /** The merchant's own id of the customer, echoed in webhooks (W10). */
  readonly customerId: string | null;
  /** Stripped of reserved keys, description folded in (I11). */
  readonly metadata: { readonly [key: string]: Json };
  /** The payer lock: bare CPF or CNPJ (E3). */
  readonly expectedPayerTaxId: string | null;
  readonly expiresInSeconds: number;
  /** Proposed to the provider, so that asking twice makes one instrument. 32 characters `[a-z0-9]` (I3). */
  readonly txid: string;
  /** PUBLIC_URL when it was created: a charge's links stay what they were (K3). */
  readonly baseUrl: string;
  readonly createdAt: Timestamp;
}

/** Identifies the request that created it, so that the same key with other content is refused (K2). */
export interface Fingerprint {
  readonly version: number;
  readonly hash: string;
}

/** The merchant asked for money. The pay code may not exist yet: the intent is stored before any outside call (K7). */
export type ChargeCreated = Fact<'ChargeCreated', ChargeTerms & { readonly fingerprint: Fingerprint }>;
/** The provider bound a Pix pay code; from here on the payer can pay. */
export type ChargePixIssued = Fact<'ChargePixIssued', PixInstrument & { readonly at: Timestamp }>;
/** Nobody paid in time; the provider was asked first (M4). Says nothing about money that arrives later. */
export type ChargeExpired = Fact<'ChargeExpired', { readonly at: Timestamp }>;
/** The provider refused to create the instrument, or never confirmed that it did (K7). */
export type ChargeFailed = Fact<
  'ChargeFailed',
  { readonly reason: string; readonly providerErrorCode: string; readonly at: Timestamp }
>;

export type ChargeEvent = ChargeCreated | ChargePixIssued | ChargeExpired | ChargeFailed;

/** Informative block of an ended charge (`metadata.failure` of the interface). */
export interface ChargeFailure {
  readonly reason: string;
  readonly providerErrorCode: string;
  readonly at: Timestamp;
}

interface Existing {
  readonly terms: ChargeTerms;
  readonly fingerprint: Fingerprint;
}
export type ChargeState =
  | { readonly status: 'absent' }
  /** Intent stored, instrument not confirmed. */
  | (Existing & { readonly status: 'requested' })
  | (Existing & { readonly status: 'open'; readonly pix: PixInstrument })
  | (Existing & { readonly status: 'expired'; readonly pix: PixInstrument; readonly failure: ChargeFailure })
  | (Existing & { readonly status: 'failed'; readonly failure: ChargeFailure });

const evolve = (state: ChargeState, event: ChargeEvent): ChargeState => {
  switch (event.type) {
    case 'ChargeCreated': {
      const { fingerprint, ...terms } = event.data;
      return { status: 'requested', terms, fingerprint };
    }
    case 'ChargePixIssued': {
      if (state.status !== 'requested') return state;
      const { at: _, ...pix } = event.data;
      return { ...state, status: 'open', pix };
    }
    case 'ChargeExpired': {
      if (state.status !== 'open') return state;
      const failure = {
        reason: 'The Pix code expired without payment.',
        providerErrorCode: 'expired',
        at: event.data.at,
      };
      return { ...state, status: 'expired', failure };
    }
    case 'ChargeFailed':
      return state.status === 'requested' ? { ...state, status: 'failed', failure: event.data } : state;
    default:
      return ignore(state, event);
  }
};

export const charge: Decider<ChargeState, ChargeEvent> = { initial: { status: 'absent' }, evolve };
