// One message to one endpoint. Its scheduling is not an event, because it follows from the published event and the endpoints at that time.
// The stream starts with the first attempt or request, and ends when the message is delivered, dead-lettered or cancelled. A resend
// continues it.
import { aggregate, readStreamName } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { AccountId, DeliveryId, EndpointId, Mode, PaymentId, StreamName } from '../kernel/ids.ts';
import {
  flag,
  integer,
  nullable,
  record,
  type Serde,
  serdeOf,
  text,
  time,
  type UnsaidFields,
} from '../kernel/serde.ts';
import { addMillis, later, type Timestamp } from '../kernel/time.ts';
import { earliestMs, longestDelayMs, MAX_ATTEMPTS, retryDelayMs } from './schedule.ts';

/** A message and its destination. Account, mode, own URL and body derive from the stream's events up to `revision`. */
export interface Delivery {
  /** Stream of the published event; `revision` is that of the event. */
  readonly stream: StreamName;
  readonly revision: number;
  /** The payment that the message is about, or null. */
  readonly paymentId: PaymentId | null;
  readonly eventType: string;
  /** null for a message to the stream's own URL, which is a payment's webhookUrl (W7). */
  readonly endpointId: EndpointId | null;
  /** 0 for the first sending, otherwise the number of the resend (W8). */
  readonly resend: number;
  /** Due time of its first attempt. */
  readonly scheduledAt: Timestamp;
  /** Form of its body, so that every attempt sends the same bytes even if later messages have another form. */
  readonly form: number;
}

/** Returns the correlation id of a delivery's events: the payment of its message, or else the subject of the stream. */
export const correlationOf = ({ paymentId, stream }: Pick<Delivery, 'paymentId' | 'stream'>): string =>
  paymentId ?? readStreamName(stream).id;

/**
 * Returns the target of a delivery. Deliveries to the same target tend to succeed or fail together. It is the endpoint's id, or
 * `<account>/<mode>/<host>` for URLs of streams. Endpoint ids contain no `/`.
 */
export const targetOf = ({
  endpointId,
  url,
  accountId,
  mode,
}: {
  readonly endpointId: EndpointId | null;
  readonly url: string | null;
  readonly accountId: AccountId;
  readonly mode: Mode;
}): string => endpointId ?? `${accountId}/${mode}/${hostOf(url ?? '')}`;

/** Returns the URL's host and port in lower case, or the whole text if it is not an http URL. */
const hostOf = (url: string): string => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? url;

/** `delivery` is present only in the first event of a stream. */
interface Beginning {
  readonly delivery: Delivery | null;
}
export interface FailedAttempt {
  /** 1-based, counting all rounds. */
  readonly number: number;
  /** `targetOf` the delivery, copied so that a retry can be scheduled without reading the published stream. */
  readonly target: string;
  readonly at: Timestamp;
  readonly statusCode: number | null;
  readonly error: string;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly nextAttemptAt: Timestamp | null;
}
export type WebhookDeliveryAttemptFailed = Fact<'WebhookDeliveryAttemptFailed', FailedAttempt & Beginning>;
/** The endpoint responded with 2xx in time. */
export type WebhookDeliverySucceeded = Fact<
  'WebhookDeliverySucceeded',
  Beginning & {
    readonly number: number;
    readonly at: Timestamp;
    readonly statusCode: number;
    readonly durationMs: number;
  }
>;
/** All attempts failed. The merchant can request another delivery. */
export type WebhookDeliveryDeadLettered = Fact<'WebhookDeliveryDeadLettered', { readonly at: Timestamp }>;
/** The endpoint was deleted before it accepted the message. */
export type WebhookDeliveryCancelled = Fact<
  'WebhookDeliveryCancelled',
  Beginning & { readonly reason: string; readonly at: Timestamp }
>;
/** Immediate delivery was requested, individually or by a redrive (W8). If the delivery had ended, this starts a new round. */
export type WebhookDeliveryRetryRequested = Fact<
  'WebhookDeliveryRetryRequested',
  Beginning & {
    readonly target: string;
    /** Whether to send it even to a failing target: true for individual requests and for the first of a redrive (W3). */
    readonly isProbe: boolean;
    readonly at: Timestamp;
  }
>;

/** The personal data of the delivery was erased, together with that of its payment (L2). */
export type WebhookDeliveryPersonalDataErased = Fact<'WebhookDeliveryPersonalDataErased', { readonly at: Timestamp }>;

export type WebhookDeliveryEvent =
  | WebhookDeliveryPersonalDataErased
  | WebhookDeliveryAttemptFailed
  | WebhookDeliverySucceeded
  | WebhookDeliveryDeadLettered
  | WebhookDeliveryCancelled
  | WebhookDeliveryRetryRequested;

/** A run through the retry schedule: at most MAX_ATTEMPTS attempts. */
export interface Round {
  /** Attempts of earlier rounds. */
  readonly earlierAttempts: number;
  readonly begunAt: Timestamp;
}

interface Progress {
  readonly delivery: Delivery;
  readonly round: Round;
  readonly updatedAt: Timestamp;
  readonly attempts: number;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly lastResponseBody: string | null;
}
export type WebhookDeliveryState =
  | { readonly status: 'absent' }
  | (Progress & {
      readonly status: 'pending';
      readonly target: string;
      readonly nextAttemptAt: Timestamp;
      /** The next attempt was requested, so it is made even while the target keeps failing. */
      readonly isProbe: boolean;
    })
  | (Progress & { readonly status: 'delivered' })
  | (Progress & { readonly status: 'deadLettered' })
  | (Progress & { readonly status: 'cancelled' });
export type PendingDelivery = Extract<WebhookDeliveryState, { readonly status: 'pending' }>;

/** Returns the state of a scheduled delivery without attempts, whose stream is empty. */
export const scheduled = (delivery: Delivery, target: string): PendingDelivery => ({
  status: 'pending',
  delivery,
  round: { earlierAttempts: 0, begunAt: delivery.scheduledAt },
  updatedAt: delivery.scheduledAt,
  attempts: 0,
  lastStatusCode: null,
  lastError: null,
  lastResponseBody: null,
  target,
  nextAttemptAt: delivery.scheduledAt,
  isProbe: delivery.resend > 0,
});

/** Returns the number of attempts in the current round. */
const attemptsOfRound = ({ attempts, round }: Progress): number => attempts - round.earlierAttempts;

/** Returns whether the next attempt is held back while the target keeps failing (W3). */
export const isHoldable = (state: PendingDelivery): boolean => attemptsOfRound(state) === 0 && !state.isProbe;

/** Returns the maximum number of attempts, including those of earlier rounds. */
export const maxAttemptsOf = ({ round }: Pick<Progress, 'round'>): number => round.earlierAttempts + MAX_ATTEMPTS;

/** Returns the pending state before the event, or null if the delivery has ended or its start is unknown. */
const pendingBefore = (state: WebhookDeliveryState, event: WebhookDeliveryEvent): PendingDelivery | null => {
  if (state.status === 'pending') return state;
  const delivery = state.status === 'absent' && 'delivery' in event.data ? event.data.delivery : null;
  return delivery && scheduled(delivery, '');
};

/** Returns the state after a retry request. An ended delivery starts a new round; a pending one continues its round. */
const retried = (
  state: Exclude<WebhookDeliveryState, { readonly status: 'absent' }>,
  { target, isProbe, at }: WebhookDeliveryRetryRequested['data'],
): PendingDelivery => {
  const round = state.status === 'pending' ? state.round : { earlierAttempts: state.attempts, begunAt: at };
  return { ...state, status: 'pending', round, updatedAt: at, target, nextAttemptAt: at, isProbe };
};

const evolve = (state: WebhookDeliveryState, event: WebhookDeliveryEvent): WebhookDeliveryState => {
  const before = pendingBefore(state, event);
  if (event.type === 'WebhookDeliveryRetryRequested') {
    const known = before ?? state;
    return known.status === 'absent' ? state : retried(known, event.data);
  }
  if (event.type === 'WebhookDeliveryPersonalDataErased')
    return state.status === 'absent' ? state : { ...state, lastResponseBody: null };
  if (before === null) return state;
  const { status: _, target: __, nextAttemptAt, isProbe: ___, ...progress } = before;
  const updatedAt = event.data.at;
  switch (event.type) {
    case 'WebhookDeliveryAttemptFailed': {
      const { number: attempts, target, statusCode, error, responseBody, nextAttemptAt: next } = event.data;
      const last = { attempts, lastStatusCode: statusCode, lastError: error, lastResponseBody: responseBody };
      const due = { target, nextAttemptAt: next ?? nextAttemptAt, isProbe: false };
      return { ...progress, ...last, ...due, status: 'pending', updatedAt };
    }
    case 'WebhookDeliverySucceeded': {
      const { number: attempts, statusCode: lastStatusCode } = event.data;
      const last = { attempts, lastStatusCode, lastError: null, lastResponseBody: null };
      return { ...progress, ...last, status: 'delivered', updatedAt };
    }
    case 'WebhookDeliveryDeadLettered':
      return { ...progress, status: 'deadLettered', updatedAt };
    case 'WebhookDeliveryCancelled':
      return { ...progress, status: 'cancelled', updatedAt };
    default:
      return ignore(state, event);
  }
};
export const webhookDelivery: Decider<WebhookDeliveryState, WebhookDeliveryEvent> = {
  initial: { status: 'absent' },
  evolve,
};

/** A delivery and its target, which decisions need because the stream may be empty. */
export interface Scheduled {
  readonly delivery: Delivery;
  readonly target: string;
}

/** Returns the state for a decision and the extra data for a first event, or null if the delivery has ended. */
const begun = (state: WebhookDeliveryState, { delivery, target }: Scheduled) => {
  if (state.status === 'absent') return { pending: scheduled(delivery, target), delivery };
  return state.status === 'pending' ? { pending: state, delivery: null } : null;
};

export interface AttemptResult {
  readonly ok: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly retryAfterMs: number | null;
}

/**
 * Records the outcome of attempt `number` (from 1), which ended at `endedAt`, and the due time of the next attempt. If a retry was
 * requested later, the outcome has that time. Replies 'nothing' if that attempt is already recorded or the delivery has ended. `random` in
 * [0, 1) spreads the delay.
 */
export const recordAttempt =
  (
    of: Scheduled,
    number: number,
    result: AttemptResult,
    endedAt: Timestamp,
    random: number,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const before = begun(state, of);
    if (before === null || number !== before.pending.attempts + 1) return { events: [], reply: 'nothing' };
    const { delivery } = before;
    const at = later(endedAt, before.pending.updatedAt);
    const { statusCode, durationMs, responseBody } = result;
    if (result.ok && statusCode !== null)
      return {
        events: [{ type: 'WebhookDeliverySucceeded', data: { number, at, statusCode, durationMs, delivery } }],
        reply: 'recorded',
      };
    const ofRound = attemptsOfRound(before.pending) + 1;
    const isLast = ofRound >= MAX_ATTEMPTS;
    const nextAttemptAt = isLast ? null : addMillis(at, retryDelayMs(ofRound, random, result.retryAfterMs));
    const error = result.error ?? 'connection';
    const failed: WebhookDeliveryEvent = {
      type: 'WebhookDeliveryAttemptFailed',
      data: { number, target: of.target, at, statusCode, error, responseBody, durationMs, nextAttemptAt, delivery },
    };
    return {
      events: isLast ? [failed, { type: 'WebhookDeliveryDeadLettered', data: { at } }] : [failed],
      reply: 'recorded',
    };
  };

/**
 * Returns whether a retry may be made early because its target accepted a message at `at` (W3). It may not if a Retry-After requested the
 * wait, or if the previous attempt was early. Otherwise an endpoint that rejects only some messages would use up their attempts.
 */
export const mayComeEarly = (state: PendingDelivery, at: Timestamp): boolean =>
  state.nextAttemptAt <= addMillis(state.updatedAt, longestDelayMs(attemptsOfRound(state))) &&
  at >= addMillis(state.round.begunAt, earliestMs(attemptsOfRound(state)));

/** Cancels a delivery at `wantedAt`, or when a retry was requested if that was later. Replies 'nothing' if it has ended. */
export const cancelDelivery =
  (
    of: Scheduled,
    reason: string,
    wantedAt: Timestamp,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const before = begun(state, of);
    if (before === null) return { events: [], reply: 'nothing' };
    const { delivery } = before;
    const at = later(wantedAt, before.pending.updatedAt);
    return { events: [{ type: 'WebhookDeliveryCancelled', data: { reason, at, delivery } }], reply: 'recorded' };
  };

/** Erases the response that the endpoint sent last. May be repeated, for a response that was recorded since. */
export const eraseDelivery =
  (at: Timestamp): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'erased'> =>
  (state) => ({
    events: state.status === 'absent' ? [] : [{ type: 'WebhookDeliveryPersonalDataErased', data: { at } }],
    reply: 'erased',
  });

type RetryDecision = Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'requested' | 'nothing'>;

const requested = (target: string, isProbe: boolean, at: Timestamp, delivery: Delivery | null) => ({
  events: [{ type: 'WebhookDeliveryRetryRequested', data: { target, isProbe, at, delivery } } as const],
  reply: 'requested' as const,
});
const NOTHING_TO_DO = { events: [], reply: 'nothing' } as const;

/**
 * Requests delivery at `at`, whatever the present state. Replies 'nothing' if the next attempt is already due and not held back.
 */
export const requestRetry =
  (of: Scheduled, at: Timestamp): RetryDecision =>
  (state) => {
    const before = begun(state, of);
    const goesNow = before !== null && before.pending.nextAttemptAt <= at && !isHoldable(before.pending);
    return goesNow ? NOTHING_TO_DO : requested(of.target, true, at, before?.delivery ?? null);
  };

/**
 * Requests delivery of a dead-lettered message at `at` for a redrive requested at `askedAt`. Replies 'nothing' if it is not dead-lettered,
 * or was dead-lettered later, because then this redrive has already retried it.
 */
export const redriveDelivery =
  (target: string, isProbe: boolean, askedAt: Timestamp, at: Timestamp): RetryDecision =>
  (state) =>
    state.status === 'deadLettered' && state.updatedAt <= askedAt
      ? requested(target, isProbe, at, null)
      : NOTHING_TO_DO;

const delivery = nullable(
  record<Delivery>({
    stream: text(),
    revision: integer,
    paymentId: nullable(text()),
    eventType: text(),
    endpointId: nullable(text()),
    resend: integer,
    scheduledAt: time,
    form: integer,
  }),
);

// Nearly all messages are about payments. For these, stream and payment are omitted.
const ofDelivery: UnsaidFields = {
  'delivery.stream': { is: 'correlationId', after: 'payment-' },
  'delivery.paymentId': { is: 'correlationId' },
  'delivery.resend': { usually: 0 },
  'delivery.form': { usually: 1 },
};
const ofAttempt: UnsaidFields = { number: { usually: 1 }, ...ofDelivery };

const webhookDeliverySerde: Serde<WebhookDeliveryEvent> = serdeOf<WebhookDeliveryEvent>({
  WebhookDeliveryAttemptFailed: {
    version: 1,
    shape: record({
      number: integer,
      target: text(),
      at: time,
      statusCode: nullable(integer),
      error: text(),
      responseBody: nullable(text()),
      durationMs: integer,
      nextAttemptAt: nullable(time),
      delivery,
    }),
    personal: ['responseBody'],
    unsaid: ofAttempt,
  },
  WebhookDeliverySucceeded: {
    version: 1,
    shape: record({ number: integer, at: time, statusCode: integer, durationMs: integer, delivery }),
    personal: [],
    unsaid: { statusCode: { usually: 200 }, ...ofAttempt },
  },
  WebhookDeliveryDeadLettered: { version: 1, shape: record({ at: time }), personal: [] },
  WebhookDeliveryCancelled: {
    version: 1,
    shape: record({ reason: text(), at: time, delivery }),
    personal: [],
    unsaid: ofDelivery,
  },
  WebhookDeliveryPersonalDataErased: { version: 1, shape: record({ at: time }), personal: [] },
  WebhookDeliveryRetryRequested: {
    version: 1,
    shape: record({ target: text(), isProbe: flag, at: time, delivery }),
    personal: [],
    unsaid: ofDelivery,
  },
});

export const WEBHOOK_DELIVERY = aggregate<DeliveryId>()({
  category: 'webhookDelivery',
  changesMax: 500,
  idPrefix: 'wd_',
  decider: webhookDelivery,
  serde: webhookDeliverySerde,
  groups: partition<WebhookDeliveryEvent>()({
    attempts: ['WebhookDeliveryAttemptFailed', 'WebhookDeliverySucceeded'],
    course: ['WebhookDeliveryDeadLettered', 'WebhookDeliveryCancelled', 'WebhookDeliveryRetryRequested'],
    erasure: ['WebhookDeliveryPersonalDataErased'],
  }),
  isDeletable: true,
  isSealed: true,
});
