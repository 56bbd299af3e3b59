// One message to one endpoint. That it was scheduled is no fact: it follows from the event that it tells of and from the endpoints at the
// time. Its stream begins with the first thing that happens to it, and ends when it is delivered, dead-lettered or cancelled, until it is
// asked for again.
import { aggregate, readStreamName } from '../kernel/aggregate.ts';
import { type Decider, type Decision, ignore } from '../kernel/decider.ts';
import type { Fact, StreamName } from '../kernel/event.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import type { AccountId, DeliveryId, EndpointId, Mode, PaymentId } from '../kernel/ids.ts';
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
import { addMillis, type Timestamp } from '../kernel/time.ts';
import { earliestMs, longestDelayMs, MAX_ATTEMPTS, retryDelayMs } from './schedule.ts';

/** What is delivered, and where to. Account, mode, URL of its own and body follow from the stream's events up to `revision`. */
export interface Delivery {
  /** With `revision`, the event that the message tells of. */
  readonly stream: StreamName;
  readonly revision: number;
  /** The payment that the message is about; null: none. */
  readonly paymentId: PaymentId | null;
  readonly eventType: string;
  /** null: the message goes to the stream's own URL, which is a payment's webhookUrl (W7). */
  readonly endpointId: EndpointId | null;
  /** 0 when the message is sent for the first time, and the number of the resend otherwise (W8). */
  readonly resend: number;
  /** When its first attempt was due. */
  readonly scheduledAt: Timestamp;
  /** Version of the form that its body has: every attempt sends the same bytes, whatever form later messages have. */
  readonly form: number;
}

/** Returns what correlates a delivery's events: the payment that its message is about, or else the subject of the stream. */
export const correlationOf = ({ paymentId, stream }: Pick<Delivery, 'paymentId' | 'stream'>): string =>
  paymentId ?? readStreamName(stream).id;

/**
 * Returns the target of a delivery. Deliveries of one target are expected to succeed or fail together. It is the id of their endpoint or,
 * for URLs of streams' own, `<account>/<mode>/<host>`; no endpoint's id has a `/`.
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

/** Returns host and port of the URL in lower case; the whole text when it is not an http URL. */
const hostOf = (url: string): string => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? url;

/** `delivery`: in the first event of a stream, and in no other. */
interface Beginning {
  readonly delivery: Delivery | null;
}
export interface FailedAttempt {
  /** 1-based, counted on over all rounds. */
  readonly number: number;
  /** `targetOf` the delivery, repeated here so that its retry is scheduled without reading the stream that it tells of. */
  readonly target: string;
  readonly at: Timestamp;
  readonly statusCode: number | null;
  readonly error: string;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly nextAttemptAt: Timestamp | null;
}
export type WebhookDeliveryAttemptFailed = Fact<'WebhookDeliveryAttemptFailed', FailedAttempt & Beginning>;
/** A 2xx came in time. */
export type WebhookDeliverySucceeded = Fact<
  'WebhookDeliverySucceeded',
  Beginning & {
    readonly number: number;
    readonly at: Timestamp;
    readonly statusCode: number;
    readonly durationMs: number;
  }
>;
/** All attempts failed. The merchant can ask for the message again. */
export type WebhookDeliveryDeadLettered = Fact<'WebhookDeliveryDeadLettered', { readonly at: Timestamp }>;
/** The endpoint was deleted before it took the message. */
export type WebhookDeliveryCancelled = Fact<
  'WebhookDeliveryCancelled',
  Beginning & { readonly reason: string; readonly at: Timestamp }
>;
/** It is to be sent at once: a merchant asked for it, or for many of which it is one (W8). One that had ended begins a new round. */
export type WebhookDeliveryRetryRequested = Fact<
  'WebhookDeliveryRetryRequested',
  Beginning & {
    readonly target: string;
    /** Whether it is sent even to a target that keeps failing: all that were asked for one by one, and the first of a re-drive (W3). */
    readonly isProbe: boolean;
    readonly at: Timestamp;
  }
>;

export type WebhookDeliveryEvent =
  | WebhookDeliveryAttemptFailed
  | WebhookDeliverySucceeded
  | WebhookDeliveryDeadLettered
  | WebhookDeliveryCancelled
  | WebhookDeliveryRetryRequested;

/** Attempts that follow the schedule from its beginning: MAX_ATTEMPTS at most. */
export interface Round {
  /** Attempts of the rounds before it. */
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
      /** The next attempt was asked for: it is made even while the target keeps failing. */
      readonly isProbe: boolean;
    })
  | (Progress & { readonly status: 'delivered' })
  | (Progress & { readonly status: 'deadLettered' })
  | (Progress & { readonly status: 'cancelled' });
export type PendingDelivery = Extract<WebhookDeliveryState, { readonly status: 'pending' }>;

/** Returns the state of a delivery that was scheduled and not yet attempted: its stream is empty. */
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

/** Attempts of the present round. */
const attemptsOfRound = ({ attempts, round }: Progress): number => attempts - round.earlierAttempts;

/** Returns whether the next attempt waits for its turn while the target keeps failing (W3). */
export const isHoldable = (state: PendingDelivery): boolean => attemptsOfRound(state) === 0 && !state.isProbe;

/** Returns how many attempts there are at most, those of earlier rounds included. */
export const maxAttemptsOf = ({ round }: Pick<Progress, 'round'>): number => round.earlierAttempts + MAX_ATTEMPTS;

/** null: it has ended, or its beginning is not known. */
const pendingBefore = (state: WebhookDeliveryState, event: WebhookDeliveryEvent): PendingDelivery | null => {
  if (state.status === 'pending') return state;
  const delivery = state.status === 'absent' && 'delivery' in event.data ? event.data.delivery : null;
  return delivery && scheduled(delivery, '');
};

/** The state once it was asked for again. One that had ended begins a new round; one that is pending goes on with its own. */
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

/** A delivery and its target: what a decision on a stream must be told that may be empty yet. */
export interface Scheduled {
  readonly delivery: Delivery;
  readonly target: string;
}

/** The state that a decision starts from, and what the first event must hold besides; null: the delivery has ended. */
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
 * Records the outcome of attempt `number` (from 1) and when the next one is due. Replies 'nothing' when that attempt is recorded already
 * or the delivery has ended. `random` in [0, 1) spreads the delay.
 */
export const recordAttempt =
  (
    of: Scheduled,
    number: number,
    result: AttemptResult,
    at: Timestamp,
    random: number,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const before = begun(state, of);
    if (before === null || number !== before.pending.attempts + 1) return { events: [], reply: 'nothing' };
    const { delivery } = before;
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
 * Returns whether a retry may come before its time because its target took something at `at` (W3). It may not when a Retry-After asked for
 * the wait, nor when the attempt before came early already: an endpoint that takes some messages and refuses others must not use up the
 * attempts of those that it refuses.
 */
export const mayComeEarly = (state: PendingDelivery, at: Timestamp): boolean =>
  state.nextAttemptAt <= addMillis(state.updatedAt, longestDelayMs(attemptsOfRound(state))) &&
  at >= addMillis(state.round.begunAt, earliestMs(attemptsOfRound(state)));

/** Cancels a delivery that has not ended. Replies 'nothing' when it has. */
export const cancelDelivery =
  (
    of: Scheduled,
    reason: string,
    at: Timestamp,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const before = begun(state, of);
    if (before === null) return { events: [], reply: 'nothing' };
    const { delivery } = before;
    return { events: [{ type: 'WebhookDeliveryCancelled', data: { reason, at, delivery } }], reply: 'recorded' };
  };

type RetryDecision = Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'requested' | 'nothing'>;

const requested = (target: string, isProbe: boolean, at: Timestamp, delivery: Delivery | null) => ({
  events: [{ type: 'WebhookDeliveryRetryRequested', data: { target, isProbe, at, delivery } } as const],
  reply: 'requested' as const,
});
const NOTHING_TO_DO = { events: [], reply: 'nothing' } as const;

/**
 * Has a delivery sent at `at`, whatever has become of it. Replies 'nothing' when it goes now in any case: its next attempt is due, and
 * does not wait for its turn.
 */
export const requestRetry =
  (of: Scheduled, at: Timestamp): RetryDecision =>
  (state) => {
    const before = begun(state, of);
    const goesNow = before !== null && before.pending.nextAttemptAt <= at && !isHoldable(before.pending);
    return goesNow ? NOTHING_TO_DO : requested(of.target, true, at, before?.delivery ?? null);
  };

/**
 * Has a dead-lettered delivery sent at `at`, as one of many that were asked for at `askedAt`. Replies 'nothing' when it is not
 * dead-lettered, or was dead-lettered later: then it was re-driven already, and failed again.
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

// Of messages about payments, which nearly all are, neither stream nor payment is stored.
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
  WebhookDeliveryRetryRequested: {
    version: 1,
    shape: record({ target: text(), isProbe: flag, at: time, delivery }),
    personal: [],
    unsaid: ofDelivery,
  },
});

export const WEBHOOK_DELIVERY = aggregate<DeliveryId>()({
  category: 'webhookDelivery',
  idPrefix: 'wd_',
  decider: webhookDelivery,
  serde: webhookDeliverySerde,
  groups: oneGroup(webhookDeliverySerde),
  isDeletable: true,
});
