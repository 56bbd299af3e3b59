// Requests and responses of webhook endpoints (contract.md Webhook endpoint).
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
  url: string(2048, { minLength: 1, description: 'https, and reachable from outside.' }),
  events: listOf(string(64), {
    minItems: 1,
    maxItems: 64,
    description: 'Names of the catalogue; `*` is all of them.',
  }),
};
const status = oneOfTexts(ENDPOINT_STATUSES);

export const registerEndpointBody = accepting(sent);
export const changeEndpointBody = accepting({
  url: optional(sent.url),
  events: optional(sent.events),
  status: optional(described('INACTIVE: no new deliveries, and pending ones wait.', status)),
});
const endpointAgain = optional(described('The endpoint again; it must be the one in the path.', string()));
export const rotateSecretBody = accepting({ id: endpointAgain, endpointId: endpointAgain });

export const secretSchema = (description: string) => string(undefined, { pattern: '^[0-9a-f]{64}$', description });

const endpoint = {
  id: described('`we_` and the raw id.', id('we_')),
  url: described('Where deliveries go.', string()),
  events: described('The events that it is sent.', listOf(string())),
};
const shownStatus = described('Whether it gets deliveries.', status);
const secret = secretSchema('Signs the deliveries. Shown once.');

export const createdEndpointSchema = exactly({ ...endpoint, secret, status: shownStatus });
export const changedEndpointSchema = exactly({ ...endpoint, status: shownStatus });
export const rotatedSecretSchema = exactly({ id: endpoint.id, secret });
export const deletedSchema = exactly({ deleted: described('true.', boolean) });

const health = exactly({
  state: described('failing: from the third failure in a row until a success.', oneOfTexts(HEALTH_STATES)),
  failingSince: orNull(described('The first failure in that row; null while healthy.', timestamp)),
  lastError: orNull(described('Why the last attempt failed; null while healthy.', string())),
  waiting: described('First attempts that are held back until it takes something.', anyInteger),
});
export const endpointsSchema = exactly({
  data: listOf(exactly({ ...endpoint, status: shownStatus, health, createdAt: timestamp, updatedAt: timestamp })),
});

export const pingSchema = exactly({
  delivered: described('Whether it was answered with 2xx in time.', boolean),
  statusCode: orNull(described('HTTP status of the answer; null: none came.', anyInteger)),
  error: orNull(described('Why it was not delivered, as in `lastError` of a delivery.', string())),
  durationMs: described('How long it took.', anyInteger),
});
