// Request and response schemas of webhook deliveries (contract.md Webhook delivery, rule W8).
import { DELIVERY_STATUSES } from '../../../domain/presentation/delivery.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const WEBHOOKS: Tag = { name: 'Webhooks', description: 'Webhook endpoints and the deliveries to them.' };

/** The common properties of routes about webhooks. */
export const ON_WEBHOOKS = { tag: WEBHOOKS, principal: 'apiKey' } as const;

const delivery = {
  id: s.described('`wd_` and the raw id.', s.id('wd_')),
  endpointId: s.orNull(
    s.described('The endpoint of the delivery; null for the `webhookUrl` of a payment.', s.id('we_')),
  ),
  eventType: s.described('The event type, from the catalogue.', s.string()),
  status: s.described('The status of the delivery.', s.oneOfTexts(DELIVERY_STATUSES)),
  attempts: s.described('The number of attempts so far.', s.anyInteger),
  maxAttempts: s.described('The maximum number of attempts.', s.anyInteger),
  lastStatusCode: s.orNull(s.described('HTTP status of the last attempt.', s.anyInteger)),
  lastError: s.orNull(s.described('Why the last attempt failed.', s.string())),
  lastResponseBody: s.optional(s.described('The start of the last response body.', s.string())),
  nextRetryAt: s.orNull(s.described('When the next attempt is due.', s.timestamp)),
  deliveredAt: s.orNull(s.described('When the delivery succeeded.', s.timestamp)),
  createdAt: s.timestamp,
  updatedAt: s.timestamp,
  payload: s.described('The request body that is sent.', s.unknownObject),
};
export const deliveriesSchema = s.exactly({
  data: s.listOf(s.exactly(delivery)),
  total: s.described('The total number of deliveries.', s.anyInteger),
  limit: s.described('The requested limit.', s.anyInteger),
  offset: s.described('The requested offset.', s.anyInteger),
});

const attempt = s.exactly({
  number: s.described('The number of the attempt, from 1.', s.anyInteger),
  at: s.described('When the attempt was made.', s.timestamp),
  statusCode: s.orNull(s.described('HTTP status of the response; null if there was none.', s.anyInteger)),
  error: s.orNull(s.described('Why the attempt failed; null if it succeeded.', s.string())),
  durationMs: s.described('Milliseconds until the response arrived or the attempt was aborted.', s.anyInteger),
});
export const deliveryWithAttemptsSchema = s.exactly({
  ...delivery,
  attemptLog: s.described('The attempts, in order.', s.listOf(attempt)),
});

export const deliveryStatsSchema = s.exactly({
  total: s.described('All deliveries.', s.anyInteger),
  PENDING: s.described('Deliveries that wait for an attempt.', s.anyInteger),
  PROCESSING: s.described('Deliveries with an attempt in progress.', s.anyInteger),
  DELIVERED: s.described('Deliveries that succeeded.', s.anyInteger),
  FAILED: s.described('Deliveries that failed after all attempts.', s.anyInteger),
  CANCELLED: s.described('Deliveries whose endpoint was deleted.', s.anyInteger),
});

export const redriveBody = s.accepting({
  status: s.described('Only failed deliveries can be sent again in bulk.', s.constant('FAILED')),
  endpointId: s.optional(s.described('Only deliveries to this endpoint, a `we_` id.', s.string(64))),
  eventType: s.optional(s.described('Only deliveries of this event type.', s.string(64))),
  createdAfter: s.optional(
    s.described('Only deliveries created at or after this ISO 8601 date or date-time.', s.string(64)),
  ),
  createdBefore: s.optional(
    s.described(
      'Only deliveries created at or before this ISO 8601 date-time, or by the end of this date.',
      s.string(64),
    ),
  ),
  dryRun: s.optional(s.described('`true` counts the deliveries and sends none.', s.boolean)),
});
export const redriveSchema = s.exactly({
  matched: s.described('The number of matching deliveries.', s.anyInteger),
  queued: s.described(
    'The number of deliveries that are sent again. Deliveries to inactive or deleted endpoints, and those already queued by an earlier call, are not included.',
    s.anyInteger,
  ),
});
