// A refund at the provider. The payment's stream records its effect on the payment and the wallet.

import type { PaymentMethod } from '../charge/methods.ts';
import { PAYMENT_METHODS } from '../charge/methods.ts';
import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import {
  type EnteredOutcome,
  enteredAgain,
  enteredShape,
  NO_ORDER,
  NOT_EXECUTED,
  notEnterable,
} from '../kernel/enteredOutcome.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import type { PaymentId, RefundId, Tenant } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import { ERASED, money, nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';

/** `devolution` returns the Pix by its end-to-end id, `cashout` is a new Pix, `reversal` is the acquirer's refund of other methods. */
export type RefundStrategy = 'devolution' | 'cashout' | 'reversal';

export interface RefundOrder extends Tenant {
  readonly refundId: RefundId;
  readonly paymentId: PaymentId;
  readonly amount: Minor;
  readonly currency: string;
  readonly method: PaymentMethod;
  readonly strategy: RefundStrategy;
  readonly destination: string | null;
  /** Id of the refunded payment: the end-to-end id of a Pix, otherwise the acquirer's id. */
  readonly providerPaymentId: string;
}

export type RefundRequested = Fact<'RefundRequested', RefundOrder & { readonly at: Timestamp }>;
/** The provider accepted the refund and is processing it. */
export type RefundSubmitted = Fact<'RefundSubmitted', { readonly at: Timestamp }>;
/** The provider did not report the outcome; it is asked until it does. */
export type RefundOutcomeUnknown = Fact<'RefundOutcomeUnknown', { readonly at: Timestamp }>;
export type RefundCompleted = Fact<'RefundCompleted', { readonly endToEndId: string | null; readonly at: Timestamp }>;
export type RefundFailed = Fact<'RefundFailed', { readonly reason: string; readonly at: Timestamp }>;
/** The provider paid a refund that it had reported as failed. */
export type RefundConfirmedLate = Fact<
  'RefundConfirmedLate',
  { readonly endToEndId: string | null; readonly at: Timestamp }
>;
/** An operator entered the outcome; the event that ends the refund is in the same append. */
export type RefundOutcomeEntered = Fact<'RefundOutcomeEntered', EnteredOutcome & { readonly at: Timestamp }>;
/** The personal data of the refund was erased, together with that of its payment (L2). */
export type RefundPersonalDataErased = Fact<'RefundPersonalDataErased', { readonly at: Timestamp }>;
export type RefundEvent =
  | RefundPersonalDataErased
  | RefundRequested
  | RefundSubmitted
  | RefundOutcomeUnknown
  | RefundCompleted
  | RefundFailed
  | RefundConfirmedLate
  | RefundOutcomeEntered;

interface Ordered {
  readonly order: RefundOrder;
  readonly requestedAt: Timestamp;
  /** When the provider first got the order, if recorded. This may be long after the request if the connection was disabled. */
  readonly sentAt?: Timestamp;
}
export type RefundState =
  | { readonly status: 'absent' }
  | (Ordered & { readonly status: 'requested' | 'submitted' | 'unknown' })
  | (Ordered & { readonly status: 'completed'; readonly endToEndId: string | null; readonly completedAt: Timestamp })
  | (Ordered & {
      readonly status: 'failed';
      readonly reason: string;
      readonly failedAt: Timestamp;
      readonly late?: { readonly endToEndId: string | null; readonly at: Timestamp };
    });
export type OpenRefund = Extract<RefundState, { status: 'requested' | 'submitted' | 'unknown' }>;

/** Returns since when the refund waits for the provider: since its first order, or since the request if no order is recorded. */
export const firstSentAt = ({ sentAt, requestedAt }: OpenRefund): Timestamp => sentAt ?? requestedAt;

const isOpen = (state: RefundState): state is OpenRefund =>
  state.status === 'requested' || state.status === 'submitted' || state.status === 'unknown';

const evolve = (state: RefundState, event: RefundEvent): RefundState => {
  if (event.type === 'RefundRequested') {
    const { at: requestedAt, ...order } = event.data;
    return state.status === 'absent' ? { status: 'requested', order, requestedAt } : state;
  }
  if (event.type === 'RefundPersonalDataErased') return erased(state);
  if (event.type === 'RefundConfirmedLate') return state.status === 'failed' ? { ...state, late: event.data } : state;
  if (!isOpen(state)) return state;
  switch (event.type) {
    case 'RefundSubmitted':
      return { ...state, status: 'submitted', sentAt: state.sentAt ?? event.data.at };
    case 'RefundOutcomeUnknown':
      return { ...state, status: 'unknown', sentAt: state.sentAt ?? event.data.at };
    case 'RefundCompleted':
      return { ...state, status: 'completed', endToEndId: event.data.endToEndId, completedAt: event.data.at };
    case 'RefundFailed':
      return { ...state, status: 'failed', reason: event.data.reason, failedAt: event.data.at };
    case 'RefundOutcomeEntered':
      return state;
    default:
      return ignore(state, event);
  }
};

const erased = (state: RefundState): RefundState => {
  if (state.status === 'absent') return state;
  const order = { ...state.order, destination: null };
  return state.status === 'failed' ? { ...state, order, reason: ERASED } : { ...state, order };
};

export const refund: Decider<RefundState, RefundEvent> = { initial: { status: 'absent' }, evolve };

/** Starts the work on a refund that the payment's stream reserved. No-op if it has started. */
export const requestRefund =
  (order: RefundOrder, at: Timestamp): Decision<RefundState, RefundEvent, 'requested'> =>
  (state) => ({
    events: state.status === 'absent' ? [{ type: 'RefundRequested', data: { ...order, at } }] : [],
    reply: 'requested',
  });

/** Erases the refund's personal data. May be repeated, for data that was recorded since. */
export const eraseRefund =
  (at: Timestamp): Decision<RefundState, RefundEvent, 'erased'> =>
  (state) => ({
    events: state.status === 'absent' ? [] : [{ type: 'RefundPersonalDataErased', data: { at } }],
    reply: 'erased',
  });

export type RefundOutcome =
  | { readonly kind: 'processing' }
  | { readonly kind: 'confirmed'; readonly endToEndId: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/**
 * Records the provider's outcome, even a confirmation after a failure. No-op if already recorded or ended. An unknown outcome of a refund
 * that the provider accepted is not recorded: alternating answers would fill the stream.
 */
export const recordRefundOutcome =
  (outcome: RefundOutcome, at: Timestamp): Decision<RefundState, RefundEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const event = isOpen(state) ? eventOf(state, outcome, at) : lateEventOf(state, outcome, at);
    return event === null ? { events: [], reply: 'nothing' } : { events: [event], reply: 'recorded' };
  };

/**
 * Ends a refund with the outcome that an operator found out. No-op if it ended so. Rejects with `not_found`, or with `invalid_request` if
 * it ended otherwise, was not sent yet, or is younger than a day.
 */
export const enterRefundOutcome =
  (entered: EnteredOutcome, at: Timestamp): Decision<RefundState, RefundEvent, 'entered' | 'known'> =>
  (state) => {
    if (state.status === 'absent') return NO_ORDER;
    if (!isOpen(state)) return enteredAgain(state.status === 'completed' ? 'done' : 'refused', entered);
    const refusal = notEnterable(state.sentAt ?? null, at);
    if (refusal !== null) return refusal;
    const end: RefundEvent =
      entered.outcome === 'done'
        ? { type: 'RefundCompleted', data: { endToEndId: null, at } }
        : { type: 'RefundFailed', data: { reason: NOT_EXECUTED, at } };
    return { events: [{ type: 'RefundOutcomeEntered', data: { ...entered, at } }, end], reply: 'entered' };
  };

const lateEventOf = (state: RefundState, outcome: RefundOutcome, at: Timestamp): RefundEvent | null =>
  state.status === 'failed' && state.late === undefined && outcome.kind === 'confirmed'
    ? { type: 'RefundConfirmedLate', data: { endToEndId: outcome.endToEndId, at } }
    : null;

const eventOf = (state: OpenRefund, outcome: RefundOutcome, at: Timestamp): RefundEvent | null => {
  switch (outcome.kind) {
    case 'processing':
      return state.status === 'submitted' ? null : { type: 'RefundSubmitted', data: { at } };
    case 'unknown':
      return state.status === 'requested' ? { type: 'RefundOutcomeUnknown', data: { at } } : null;
    case 'confirmed':
      return { type: 'RefundCompleted', data: { endToEndId: outcome.endToEndId, at } };
    case 'refused':
      return { type: 'RefundFailed', data: { reason: outcome.reason, at } };
    default:
      return outcome satisfies never;
  }
};

const refundSerde: Serde<RefundEvent> = serdeOf<RefundEvent>({
  RefundRequested: {
    version: 1,
    shape: record<RefundOrder & { at: Timestamp }>({
      refundId: text(),
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      amount: money,
      currency: text(),
      method: oneOf(...PAYMENT_METHODS),
      strategy: oneOf('devolution', 'cashout', 'reversal'),
      destination: nullable(text()),
      providerPaymentId: text(),
      at: time,
    }),
    personal: ['destination'],
    unsaid: {
      refundId: { is: 'subject' },
      paymentId: { is: 'correlationId' },
      accountId: { is: 'account' },
      mode: { is: 'mode' },
    },
  },
  RefundSubmitted: { version: 1, shape: record({ at: time }), personal: [] },
  RefundOutcomeUnknown: { version: 1, shape: record({ at: time }), personal: [] },
  RefundCompleted: { version: 1, shape: record({ endToEndId: nullable(text()), at: time }), personal: [] },
  RefundConfirmedLate: { version: 1, shape: record({ endToEndId: nullable(text()), at: time }), personal: [] },
  RefundOutcomeEntered: { version: 1, ...enteredShape },
  RefundFailed: { version: 1, shape: record({ reason: text(), at: time }), personal: ['reason'] },
  RefundPersonalDataErased: { version: 1, shape: record({ at: time }), personal: [] },
});

export const REFUND = aggregate<RefundId>()({
  category: 'refund',
  idPrefix: 'rf_',
  decider: refund,
  serde: refundSerde,
  isSealed: true,
  groups: oneGroup(refundSerde),
});
