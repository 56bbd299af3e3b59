// A payout: a merchant's withdrawal from its wallet to a Pix key (rules Y1–Y6). Its stream records the request, the reviews and the bank's
// outcome.
import { type Decider, type Fact, ignore } from '../kernel/decider.ts';
import { type EnteredOutcome, enteredShape } from '../kernel/enteredOutcome.ts';
import { type Erasure, erasureShape } from '../kernel/erasure.ts';
import { partition } from '../kernel/eventGroups.ts';
import { type Fingerprint, fingerprintShape } from '../kernel/fingerprint.ts';
import type { ConnectionId, Id, Tenant, UserId } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import { add, type Minor } from '../kernel/money.ts';
import {
  ERASED,
  flag,
  freeForm,
  money,
  nullable,
  oneOf,
  record,
  type Serde,
  serdeOf,
  text,
  time,
} from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';

export type PayoutId = Id<'payout'>;

/** Terms of a payout, fixed when it is requested. */
export interface PayoutTerms extends Tenant {
  readonly payoutId: PayoutId;
  /** The provider connection that pays it; null: the sandbox's bank. */
  readonly connectionId: ConnectionId | null;
  /** Amount that arrives; the fee is added to it (M11). */
  readonly amount: Minor;
  readonly fee: Minor;
  readonly currency: 'BRL';
  /** A Pix key. */
  readonly destination: string;
  readonly description: string | null;
  readonly metadata: { readonly [key: string]: Json };
  /** Whether an OWNER or ADMIN must approve it first (Y5). */
  readonly awaitsApproval: boolean;
  /** The actor of the request, and the user who issued its key, or null. Neither may approve the payout. */
  readonly requestedBy: string;
  readonly keyIssuer: UserId | null;
}

export type PayoutRequested = Fact<
  'PayoutRequested',
  PayoutTerms & { readonly fingerprint: Fingerprint; readonly at: Timestamp }
>;
/** The money reserved for a request was freed, because the request was interrupted before it was recorded (ADR 0013). */
export type PayoutAbandoned = Fact<'PayoutAbandoned', { readonly at: Timestamp }>;
/** `by`: the actor. */
export type PayoutApproved = Fact<'PayoutApproved', { readonly by: string; readonly at: Timestamp }>;

/** The money of the payout, which the postings of its end require. */
interface Moved {
  readonly amount: Minor;
  readonly fee: Minor;
  readonly currency: 'BRL';
  readonly at: Timestamp;
}
export type PayoutRejected = Fact<'PayoutRejected', Moved & { readonly by: string; readonly reason: string | null }>;
export type PayoutCancelled = Fact<'PayoutCancelled', Moved>;
/** The payout is being sent to the bank; from now on only the bank can end it. */
export type PayoutSubmitted = Fact<'PayoutSubmitted', { readonly at: Timestamp }>;
/** The bank did not report the outcome; it is asked until it does. */
export type PayoutOutcomeUnknown = Fact<'PayoutOutcomeUnknown', { readonly at: Timestamp }>;
/** An operator entered the outcome; the event that ends the payout is in the same append. */
export type PayoutOutcomeEntered = Fact<'PayoutOutcomeEntered', EnteredOutcome & { readonly at: Timestamp }>;
export type PayoutPaid = Fact<'PayoutPaid', Moved & { readonly endToEndId: string | null }>;
export type PayoutFailed = Fact<'PayoutFailed', Moved & { readonly reason: string }>;
/** The bank paid a payout that it had reported as failed; the money leaves the wallet again. */
export type PayoutConfirmedLate = Fact<'PayoutConfirmedLate', Moved & { readonly endToEndId: string | null }>;

/** The personal data of the payout was erased (L2). */
export type PayoutPersonalDataErased = Fact<'PayoutPersonalDataErased', Erasure>;

export type PayoutEvent =
  | PayoutPersonalDataErased
  | PayoutRequested
  | PayoutAbandoned
  | PayoutApproved
  | PayoutRejected
  | PayoutCancelled
  | PayoutSubmitted
  | PayoutOutcomeUnknown
  | PayoutOutcomeEntered
  | PayoutPaid
  | PayoutFailed
  | PayoutConfirmedLate;

export const PAYOUT_GROUPS = partition<PayoutEvent>()({
  request: ['PayoutRequested', 'PayoutAbandoned', 'PayoutCancelled'],
  review: ['PayoutApproved', 'PayoutRejected'],
  underWay: ['PayoutSubmitted', 'PayoutOutcomeUnknown', 'PayoutOutcomeEntered'],
  end: ['PayoutPaid', 'PayoutFailed', 'PayoutConfirmedLate'],
  erasure: ['PayoutPersonalDataErased'],
});

interface Requested {
  readonly terms: PayoutTerms;
  readonly fingerprint: Fingerprint;
  readonly requestedAt: Timestamp;
  /** When its personal data was erased; absent if it was not. */
  readonly erasedAt?: Timestamp;
}
/** `ready`: to be sent to the bank. `unknown`: the bank has not reported the outcome. */
export type PayoutState =
  /** `abandoned`: how often money reserved for a request was freed. */
  | { readonly status: 'absent'; readonly abandoned: number }
  | (Requested & { readonly status: 'awaitingApproval' | 'ready' })
  | (Requested & { readonly status: 'submitted'; readonly submittedAt: Timestamp })
  /** `unansweredAt`: when an order without an answer was recorded, which may be long after the submission if the process died. */
  | (Requested & { readonly status: 'unknown'; readonly submittedAt: Timestamp; readonly unansweredAt: Timestamp })
  | (Requested & { readonly status: 'paid'; readonly endToEndId: string | null; readonly paidAt: Timestamp })
  | (Requested & { readonly status: 'failed'; readonly reason: string; readonly failedAt: Timestamp })
  | (Requested & { readonly status: 'rejected'; readonly reason: string | null; readonly endedAt: Timestamp })
  | (Requested & { readonly status: 'cancelled'; readonly endedAt: Timestamp });
export type Payout = Exclude<PayoutState, { status: 'absent' }>;
export type AtBank = Extract<PayoutState, { status: 'submitted' | 'unknown' }>;

export const isAtBank = (state: PayoutState): state is AtBank =>
  state.status === 'submitted' || state.status === 'unknown';
/** Returns whether the payout can still be cancelled. */
export const isPending = (
  state: PayoutState,
): state is Extract<PayoutState, { status: 'awaitingApproval' | 'ready' }> =>
  state.status === 'awaitingApproval' || state.status === 'ready';

/** Returns the amount that leaves the wallet: the payout and its fee. */
export const takenBy = ({ amount, fee }: Pick<PayoutTerms, 'amount' | 'fee'>): Minor => add(amount, fee);

const evolve = (state: PayoutState, event: PayoutEvent): PayoutState => {
  if (state.status === 'absent') return begin(state, event);
  const { terms, fingerprint, requestedAt, erasedAt } = state;
  const requested = { terms, fingerprint, requestedAt, ...(erasedAt && { erasedAt }) };
  switch (event.type) {
    case 'PayoutRequested':
    case 'PayoutAbandoned':
    case 'PayoutOutcomeEntered':
      return state;
    case 'PayoutApproved':
      return state.status === 'awaitingApproval' ? { ...state, status: 'ready' } : state;
    case 'PayoutRejected': {
      const { reason, at: endedAt } = event.data;
      return isPending(state) ? { ...requested, status: 'rejected', reason, endedAt } : state;
    }
    case 'PayoutCancelled':
      return isPending(state) ? { ...requested, status: 'cancelled', endedAt: event.data.at } : state;
    case 'PayoutSubmitted':
      return state.status === 'ready' ? { ...state, status: 'submitted', submittedAt: event.data.at } : state;
    case 'PayoutOutcomeUnknown':
      return state.status === 'submitted' ? { ...state, status: 'unknown', unansweredAt: event.data.at } : state;
    case 'PayoutPaid':
      return isAtBank(state) ? paid(requested, event) : state;
    case 'PayoutConfirmedLate':
      return state.status === 'failed' ? paid(requested, event) : state;
    case 'PayoutFailed': {
      const { reason, at: failedAt } = event.data;
      return isAtBank(state) ? { ...requested, status: 'failed', reason, failedAt } : state;
    }
    case 'PayoutPersonalDataErased': {
      const blank = { destination: ERASED, description: null, metadata: {} };
      const erased = { terms: { ...terms, ...blank }, erasedAt: erasedAt ?? event.data.at };
      if (state.status === 'failed') return { ...state, ...erased, reason: ERASED };
      return state.status === 'rejected' ? { ...state, ...erased, reason: null } : { ...state, ...erased };
    }
    default:
      return ignore(state, event);
  }
};

const begin = (state: Extract<PayoutState, { status: 'absent' }>, event: PayoutEvent): PayoutState => {
  if (event.type === 'PayoutAbandoned') return { ...state, abandoned: state.abandoned + 1 };
  if (event.type !== 'PayoutRequested') return state;
  const { fingerprint, at: requestedAt, ...terms } = event.data;
  return { status: terms.awaitsApproval ? 'awaitingApproval' : 'ready', terms, fingerprint, requestedAt };
};

const paid = (requested: Requested, { data }: PayoutPaid | PayoutConfirmedLate): PayoutState => ({
  ...requested,
  status: 'paid',
  endToEndId: data.endToEndId,
  paidAt: data.at,
});

export const payout: Decider<PayoutState, PayoutEvent> = { initial: { status: 'absent', abandoned: 0 }, evolve };

// --- Stored format ---

const moved = { amount: money, fee: money, currency: oneOf('BRL'), at: time } as const;
const instant = record({ at: time });
const confirmed = record({ ...moved, endToEndId: nullable(text()) });

export const payoutSerde: Serde<PayoutEvent> = serdeOf<PayoutEvent>({
  PayoutRequested: {
    version: 1,
    shape: record<PayoutRequested['data']>({
      payoutId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      connectionId: nullable(text()),
      amount: money,
      fee: money,
      currency: oneOf('BRL'),
      destination: text(),
      description: nullable(text()),
      metadata: freeForm(),
      awaitsApproval: flag,
      requestedBy: text(),
      keyIssuer: nullable(text()),
      fingerprint: fingerprintShape,
      at: time,
    }),
    personal: ['destination', 'description', 'metadata'],
    unsaid: {
      payoutId: { is: 'subject' },
      accountId: { is: 'account' },
      mode: { is: 'mode' },
      connectionId: { usually: null },
      currency: { usually: 'BRL' },
    },
  },
  PayoutAbandoned: { version: 1, shape: instant, personal: [] },
  PayoutApproved: { version: 1, shape: record({ by: text(), at: time }), personal: [] },
  PayoutRejected: {
    version: 1,
    shape: record({ ...moved, by: text(), reason: nullable(text()) }),
    personal: ['reason'],
  },
  PayoutCancelled: { version: 1, shape: record(moved), personal: [] },
  PayoutSubmitted: { version: 1, shape: instant, personal: [] },
  PayoutOutcomeUnknown: { version: 1, shape: instant, personal: [] },
  PayoutOutcomeEntered: { version: 1, ...enteredShape },
  PayoutPaid: { version: 1, shape: confirmed, personal: [] },
  PayoutFailed: { version: 1, shape: record({ ...moved, reason: text() }), personal: ['reason'] },
  PayoutConfirmedLate: { version: 1, shape: confirmed, personal: [] },
  PayoutPersonalDataErased: { version: 1, shape: erasureShape, personal: [] },
});
