// One message to one endpoint: frozen when it is scheduled, tried until it is delivered, dead-lettered or cancelled.
import { type Decider, type Decision, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, DeliveryId, EndpointId, EventId, Mode } from '../kernel/ids.ts';
import { addMillis, type Timestamp } from '../kernel/time.ts';
import { earliestMs, longestDelayMs, MAX_ATTEMPTS, retryDelayMs } from './schedule.ts';

export type WebhookFamily = 'canonical' | 'legacy';

export interface ScheduledDelivery {
  readonly deliveryId: DeliveryId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  /** null: it goes to `url`. */
  readonly endpointId: EndpointId | null;
  /** The payment's own webhookUrl (W7); null: wherever the endpoint says at the attempt. */
  readonly url: string | null;
  readonly eventId: EventId;
  readonly eventType: string;
  readonly family: WebhookFamily;
  /** The exact JSON text that every attempt sends. */
  readonly body: string;
  readonly maxAttempts: number;
}

/**
 * What deliveries share that succeed or fail together: the id of their endpoint, or account, mode and host of the URLs of payments.
 * No endpoint's id has a `/`.
 */
export const targetOf = ({
  endpointId,
  url,
  accountId,
  mode,
}: Pick<ScheduledDelivery, 'endpointId' | 'url' | 'accountId' | 'mode'>): string =>
  endpointId ?? `${accountId}/${mode}/${hostOf(url ?? '')}`;

/** Host and port; the whole text when it is not a URL. */
const hostOf = (url: string): string => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? url;

export type WebhookDeliveryScheduled = Fact<'WebhookDeliveryScheduled', ScheduledDelivery & { readonly at: Timestamp }>;
export interface FailedAttempt {
  /** 1-based. */
  readonly number: number;
  /** `targetOf` its delivery, said again here, so that what is to be retried is known without reading the stream. */
  readonly target: string;
  readonly at: Timestamp;
  readonly statusCode: number | null;
  readonly error: string;
  readonly responseBody: string | null;
  readonly durationMs: number;
}
export type WebhookDeliveryAttemptFailed = Fact<
  'WebhookDeliveryAttemptFailed',
  FailedAttempt & { readonly nextAttemptAt: Timestamp | null }
>;
/** A 2xx came in time. */
export type WebhookDeliverySucceeded = Fact<
  'WebhookDeliverySucceeded',
  { readonly number: number; readonly at: Timestamp; readonly statusCode: number; readonly durationMs: number }
>;
/** All attempts failed. It can be sent again by hand. */
export type WebhookDeliveryDeadLettered = Fact<'WebhookDeliveryDeadLettered', { readonly at: Timestamp }>;
/** The endpoint is gone: nobody is to be told any more. */
export type WebhookDeliveryCancelled = Fact<
  'WebhookDeliveryCancelled',
  { readonly reason: string; readonly at: Timestamp }
>;

export type WebhookDeliveryEvent =
  | WebhookDeliveryScheduled
  | WebhookDeliveryAttemptFailed
  | WebhookDeliverySucceeded
  | WebhookDeliveryDeadLettered
  | WebhookDeliveryCancelled;

interface Progress {
  readonly delivery: ScheduledDelivery;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly attempts: number;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly lastResponseBody: string | null;
}
export type WebhookDeliveryState =
  | { readonly status: 'absent' }
  | (Progress & { readonly status: 'pending'; readonly nextAttemptAt: Timestamp })
  | (Progress & { readonly status: 'delivered'; readonly deliveredAt: Timestamp })
  | (Progress & { readonly status: 'deadLettered' })
  | (Progress & { readonly status: 'cancelled'; readonly reason: string });

const evolve = (state: WebhookDeliveryState, event: WebhookDeliveryEvent): WebhookDeliveryState => {
  if (event.type === 'WebhookDeliveryScheduled') {
    if (state.status !== 'absent') return state;
    const { at, ...delivery } = event.data;
    const nothing = { attempts: 0, lastStatusCode: null, lastError: null, lastResponseBody: null };
    return { status: 'pending', delivery, createdAt: at, updatedAt: at, ...nothing, nextAttemptAt: at };
  }
  if (state.status !== 'pending') return state;
  switch (event.type) {
    case 'WebhookDeliveryAttemptFailed': {
      const { number, at, statusCode, error, responseBody, nextAttemptAt } = event.data;
      const last = { attempts: number, lastStatusCode: statusCode, lastError: error, lastResponseBody: responseBody };
      return { ...state, ...last, updatedAt: at, nextAttemptAt: nextAttemptAt ?? state.nextAttemptAt };
    }
    case 'WebhookDeliverySucceeded': {
      const { nextAttemptAt: _, ...rest } = state;
      const { number, at, statusCode } = event.data;
      const last = { attempts: number, lastStatusCode: statusCode, lastError: null, lastResponseBody: null };
      return { ...rest, ...last, status: 'delivered', updatedAt: at, deliveredAt: at };
    }
    case 'WebhookDeliveryDeadLettered': {
      const { nextAttemptAt: _, ...rest } = state;
      return { ...rest, status: 'deadLettered', updatedAt: event.data.at };
    }
    case 'WebhookDeliveryCancelled': {
      const { nextAttemptAt: _, ...rest } = state;
      return { ...rest, status: 'cancelled', updatedAt: event.data.at, reason: event.data.reason };
    }
    default:
      return ignore(state, event);
  }
};
export const webhookDelivery: Decider<WebhookDeliveryState, WebhookDeliveryEvent> = {
  initial: { status: 'absent' },
  evolve,
};

/** The delivery's id names event, endpoint and resend: scheduling it twice schedules it once (W2). */
export const scheduleDelivery =
  (
    delivery: Omit<ScheduledDelivery, 'maxAttempts'>,
    at: Timestamp,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'scheduled'> =>
  (state) => ({
    events:
      state.status === 'absent'
        ? [{ type: 'WebhookDeliveryScheduled', data: { ...delivery, maxAttempts: MAX_ATTEMPTS, at } }]
        : [],
    reply: 'scheduled',
  });

export interface AttemptResult {
  readonly ok: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly retryAfterMs: number | null;
}

/** The outcome of attempt `number`. One that is recorded already, or came after the end: nothing. `random` is in [0, 1). */
export const recordAttempt =
  (
    number: number,
    result: AttemptResult,
    at: Timestamp,
    random: number,
  ): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) => {
    if (state.status !== 'pending' || number !== state.attempts + 1) return { events: [], reply: 'nothing' };
    const { statusCode, durationMs } = result;
    if (result.ok && statusCode !== null)
      return {
        events: [{ type: 'WebhookDeliverySucceeded', data: { number, at, statusCode, durationMs } }],
        reply: 'recorded',
      };
    const isLast = number >= state.delivery.maxAttempts;
    const nextAttemptAt = isLast ? null : addMillis(at, retryDelayMs(number, random, result.retryAfterMs));
    const { responseBody } = result;
    const failed: WebhookDeliveryEvent = {
      type: 'WebhookDeliveryAttemptFailed',
      data: {
        number,
        target: targetOf(state.delivery),
        at,
        statusCode,
        error: result.error ?? 'connection',
        responseBody,
        durationMs,
        nextAttemptAt,
      },
    };
    return {
      events: isLast ? [failed, { type: 'WebhookDeliveryDeadLettered', data: { at } }] : [failed],
      reply: 'recorded',
    };
  };

/**
 * Whether a retry may come before its time because its target took something at `at` (W3). Not when a Retry-After asked for the
 * wait; nor when the attempt before came early already: an endpoint that takes some messages and refuses others must not use up the
 * attempts of those that it refuses.
 */
export const mayComeEarly = (state: Extract<WebhookDeliveryState, { status: 'pending' }>, at: Timestamp): boolean =>
  state.nextAttemptAt <= addMillis(state.updatedAt, longestDelayMs(state.attempts)) &&
  at >= addMillis(state.createdAt, earliestMs(state.attempts));

export const cancelDelivery =
  (reason: string, at: Timestamp): Decision<WebhookDeliveryState, WebhookDeliveryEvent, 'recorded' | 'nothing'> =>
  (state) =>
    state.status === 'pending'
      ? { events: [{ type: 'WebhookDeliveryCancelled', data: { reason, at } }], reply: 'recorded' }
      : { events: [], reply: 'nothing' };
