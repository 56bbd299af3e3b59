// Responses about deliveries (contract.md Webhook delivery, rule W8).
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
  endpointId: orNull(described('null: it goes to the payment’s own URL.', id('we_'))),
  eventType: described('Its name in the catalogue.', string()),
  status: described('Where the delivery stands.', oneOfTexts(DELIVERY_STATUSES)),
  attempts: described('How many were made.', anyInteger),
  maxAttempts: described('How many are made at most.', anyInteger),
  lastStatusCode: orNull(described('HTTP status of the last attempt.', anyInteger)),
  lastError: orNull(described('Why the last attempt failed.', string())),
  lastResponseBody: optional(described('What the endpoint answered, cut.', string())),
  nextRetryAt: orNull(described('When the next attempt is due.', timestamp)),
  deliveredAt: orNull(described('When it was delivered.', timestamp)),
  createdAt: timestamp,
  updatedAt: timestamp,
  payload: described('The body that is sent.', unknownObject),
};
export const deliveriesSchema = exactly({
  data: listOf(exactly(delivery)),
  total: described('How many there are in all.', anyInteger),
  limit: described('As asked for.', anyInteger),
  offset: described('As asked for.', anyInteger),
});

const attempt = exactly({
  number: described('1 for the first one.', anyInteger),
  at: described('When it was made.', timestamp),
  statusCode: orNull(described('HTTP status of the answer; null when none came.', anyInteger)),
  error: orNull(described('Why it failed; null when it did not.', string())),
  durationMs: described('Milliseconds until the answer was there, or given up.', anyInteger),
});
export const deliveryWithAttemptsSchema = exactly({
  ...delivery,
  attemptLog: described('Its attempts, in order.', listOf(attempt)),
});

export const deliveryStatsSchema = exactly({
  total: described('All of them.', anyInteger),
  PENDING: described('Those that wait for an attempt.', anyInteger),
  PROCESSING: described('Those whose attempt is being made.', anyInteger),
  DELIVERED: described('Those that were taken.', anyInteger),
  FAILED: described('Those whose attempts are used up.', anyInteger),
  CANCELLED: described('Those whose endpoint was gone.', anyInteger),
});

export const redriveBody = accepting({
  status: described('Those that were given up.', constant('FAILED')),
  endpointId: optional(described('Only those to this endpoint, a `we_` id.', string(64))),
  eventType: optional(described('Only those of this event of the catalogue.', string(64))),
  createdAfter: optional(described('Only those created then or later: an ISO 8601 date or date-time.', string(64))),
  createdBefore: optional(
    described('Only those created then or earlier: an ISO 8601 date, to its end, or date-time.', string(64)),
  ),
  dryRun: optional(described('true: they are counted, and none is sent.', boolean)),
});
export const redriveSchema = exactly({
  matched: described('Deliveries that fit.', anyInteger),
  queued: described(
    'Those that are sent again; not those to endpoints that are inactive or deleted, nor those that an earlier re-drive is about to send.',
    anyInteger,
  ),
});
