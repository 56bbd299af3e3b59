// Request and response schemas of webhook endpoints (contract.md Webhook endpoint).
import { ENDPOINT_STATUSES, HEALTH_STATES } from '../../../domain/presentation/endpoint.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

const sent = {
  url: string(2048, {
    minLength: 1,
    description: 'The URL of the endpoint. It must use https and be publicly reachable.',
  }),
  events: listOf(string(64), {
    minItems: 1,
    maxItems: 64,
    description: 'The events to subscribe to, from the catalogue. `*` means all events.',
  }),
};
const status = oneOfTexts(ENDPOINT_STATUSES);

export const registerEndpointBody = accepting(sent);
export const changeEndpointBody = accepting({
  url: optional(sent.url),
  events: optional(sent.events),
  status: optional(described('An INACTIVE endpoint gets no new deliveries, and its pending ones wait.', status)),
});
const endpointAgain = optional(
  described('The id of the endpoint. If sent, it must equal the id in the path.', string()),
);
export const rotateSecretBody = accepting({ id: endpointAgain, endpointId: endpointAgain });

export const secretSchema = (description: string) => string(undefined, { pattern: '^[0-9a-f]{64}$', description });

const endpoint = {
  id: described('`we_` and the raw id.', id('we_')),
  url: described('The URL of the endpoint.', string()),
  events: described('The events that the endpoint is subscribed to.', listOf(string())),
};
const shownStatus = described('Whether the endpoint gets deliveries.', status);
const secret = secretSchema('The secret that signs deliveries. Returned only once.');

export const createdEndpointSchema = exactly({ ...endpoint, secret, status: shownStatus });
export const changedEndpointSchema = exactly({ ...endpoint, status: shownStatus });
export const rotatedSecretSchema = exactly({ id: endpoint.id, secret });
export const deletedSchema = exactly({ deleted: described('Always true.', boolean) });

const health = exactly({
  state: described('`failing` after three failures in a row, until a delivery succeeds.', oneOfTexts(HEALTH_STATES)),
  failingSince: orNull(described('The first of these failures; null while healthy.', timestamp)),
  lastError: orNull(described('Why the last attempt failed; null while healthy.', string())),
  waiting: described('The number of first attempts that are held back until a delivery succeeds.', anyInteger),
});
export const endpointsSchema = exactly({
  data: listOf(exactly({ ...endpoint, status: shownStatus, health, createdAt: timestamp, updatedAt: timestamp })),
});

export const pingSchema = exactly({
  delivered: described('Whether the endpoint returned 2xx in time.', boolean),
  statusCode: orNull(described('HTTP status of the response; null if there was none.', anyInteger)),
  error: orNull(described('Why the ping failed, as in `lastError` of a delivery; null if it succeeded.', string())),
  durationMs: described('The duration of the ping in milliseconds.', anyInteger),
});
