// Request and response schemas of webhook deliveries (contract.md Webhook delivery, rule W8).
import { DELIVERY_STATUSES } from '../../../domain/presentation/delivery.ts';
import {
  accepting,
  anyInteger,
  boolean,
  constant,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
  unknownObject,
} from '../../kernel/jsonSchema.ts';

const delivery = {
  id: described('`wd_` and the raw id.', id('wd_')),
  endpointId: orNull(described('The endpoint of the delivery; null for the `webhookUrl` of a payment.', id('we_'))),
  eventType: described('The event type, from the catalogue.', string()),
  status: described('The status of the delivery.', oneOfTexts(DELIVERY_STATUSES)),
  attempts: described('The number of attempts so far.', anyInteger),
  maxAttempts: described('The maximum number of attempts.', anyInteger),
  lastStatusCode: orNull(described('HTTP status of the last attempt.', anyInteger)),
  lastError: orNull(described('Why the last attempt failed.', string())),
  lastResponseBody: optional(described('The start of the last response body.', string())),
  nextRetryAt: orNull(described('When the next attempt is due.', timestamp)),
  deliveredAt: orNull(described('When the delivery succeeded.', timestamp)),
  createdAt: timestamp,
  updatedAt: timestamp,
  payload: described('The request body that is sent.', unknownObject),
};
export const deliveriesSchema = exactly({
  data: listOf(exactly(delivery)),
  total: described('The total number of deliveries.', anyInteger),
  limit: described('The requested limit.', anyInteger),
  offset: described('The requested offset.', anyInteger),
});

const attempt = exactly({
  number: described('The number of the attempt, from 1.', anyInteger),
  at: described('When the attempt was made.', timestamp),
  statusCode: orNull(described('HTTP status of the response; null if there was none.', anyInteger)),
  error: orNull(described('Why the attempt failed; null if it succeeded.', string())),
  durationMs: described('Milliseconds until the response arrived or the attempt was aborted.', anyInteger),
});
export const deliveryWithAttemptsSchema = exactly({
  ...delivery,
  attemptLog: described('The attempts, in order.', listOf(attempt)),
});

export const deliveryStatsSchema = exactly({
  total: described('All deliveries.', anyInteger),
  PENDING: described('Deliveries that wait for an attempt.', anyInteger),
  PROCESSING: described('Deliveries with an attempt in progress.', anyInteger),
  DELIVERED: described('Deliveries that succeeded.', anyInteger),
  FAILED: described('Deliveries that failed after all attempts.', anyInteger),
  CANCELLED: described('Deliveries whose endpoint was deleted.', anyInteger),
});

export const redriveBody = accepting({
  status: described('Only failed deliveries can be sent again in bulk.', constant('FAILED')),
  endpointId: optional(described('Only deliveries to this endpoint, a `we_` id.', string(64))),
  eventType: optional(described('Only deliveries of this event type.', string(64))),
  createdAfter: optional(described('Only deliveries created at or after this ISO 8601 date or date-time.', string(64))),
  createdBefore: optional(
    described('Only deliveries created at or before this ISO 8601 date-time, or by the end of this date.', string(64)),
  ),
  dryRun: optional(described('`true` counts the deliveries and sends none.', boolean)),
});
export const redriveSchema = exactly({
  matched: described('The number of matching deliveries.', anyInteger),
  queued: described(
    'The number of deliveries that are sent again. Deliveries to inactive or deleted endpoints, and those already queued by an earlier call, are not included.',
    anyInteger,
  ),
});
