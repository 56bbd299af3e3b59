// Request and response schemas of webhook endpoints (contract.md Webhook endpoint).
import { ENDPOINT_STATUSES, HEALTH_STATES } from '../../../domain/presentation/endpoint.ts';
import * as s from '../../kernel/jsonSchema.ts';

const sent = {
  url: s.string(2048, {
    minLength: 1,
    description: 'The URL of the endpoint. It must use https and be publicly reachable.',
  }),
  events: s.listOf(s.string(64), {
    minItems: 1,
    maxItems: 64,
    description: 'The events to subscribe to, from the catalogue. `*` means all events.',
  }),
};
const status = s.oneOfTexts(ENDPOINT_STATUSES);

export const registerEndpointBody = s.accepting(sent);
export const changeEndpointBody = s.accepting({
  url: s.optional(sent.url),
  events: s.optional(sent.events),
  status: s.optional(s.described('An INACTIVE endpoint gets no new deliveries, and its pending ones wait.', status)),
});
const endpointAgain = s.optional(
  s.described('The id of the endpoint. If sent, it must equal the id in the path.', s.string()),
);
export const rotateSecretBody = s.accepting({ id: endpointAgain, endpointId: endpointAgain });

export const secretSchema = (description: string) => s.string(undefined, { pattern: '^[0-9a-f]{64}$', description });

const endpoint = {
  id: s.described('`we_` and the raw id.', s.id('we_')),
  url: s.described('The URL of the endpoint.', s.string()),
  events: s.described('The events that the endpoint is subscribed to.', s.listOf(s.string())),
};
const shownStatus = s.described('Whether the endpoint gets deliveries.', status);
const secret = secretSchema('The secret that signs deliveries. Returned only once.');

export const createdEndpointSchema = s.exactly({ ...endpoint, secret, status: shownStatus });
export const changedEndpointSchema = s.exactly({ ...endpoint, status: shownStatus });
export const rotatedSecretSchema = s.exactly({ id: endpoint.id, secret });
export const deletedSchema = s.exactly({ deleted: s.described('Always true.', s.boolean) });

const health = s.exactly({
  state: s.described(
    '`failing` after three failures in a row, until a delivery succeeds.',
    s.oneOfTexts(HEALTH_STATES),
  ),
  failingSince: s.orNull(s.described('The first of these failures; null while healthy.', s.timestamp)),
  lastError: s.orNull(s.described('Why the last attempt failed; null while healthy.', s.string())),
  waiting: s.described('The number of first attempts that are held back until a delivery succeeds.', s.anyInteger),
});
export const endpointsSchema = s.exactly({
  data: s.listOf(
    s.exactly({ ...endpoint, status: shownStatus, health, createdAt: s.timestamp, updatedAt: s.timestamp }),
  ),
});

export const pingSchema = s.exactly({
  delivered: s.described('Whether the endpoint returned 2xx in time.', s.boolean),
  statusCode: s.orNull(s.described('HTTP status of the response; null if there was none.', s.anyInteger)),
  error: s.orNull(
    s.described('Why the ping failed, as in `lastError` of a delivery; null if it succeeded.', s.string()),
  ),
  durationMs: s.described('The duration of the ping in milliseconds.', s.anyInteger),
});
