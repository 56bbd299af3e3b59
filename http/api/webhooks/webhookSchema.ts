// Request and responses of webhook management (contract.md Webhook endpoint, Webhook delivery).
import { DELIVERY_STATUSES } from '../../../domain/presentation/delivery.ts';
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
  unknownObject,
} from '../../kernel/jsonSchema.ts';

export const registerEndpointBody = accepting({
  url: string(2048, { minLength: 1, description: 'https, and reachable from outside.' }),
  events: listOf(string(64), {
    minItems: 1,
    maxItems: 64,
    description: 'Names of the catalogue; `*` is all of them.',
  }),
});

const endpoint = {
  id: described('`we_` and the raw id.', id('we_')),
  url: described('Where deliveries go.', string()),
  events: described('What it is told.', listOf(string())),
};
const status = described('Whether it gets deliveries.', oneOfTexts(['ACTIVE', 'INACTIVE']));
const secret = (description: string) => string(undefined, { pattern: '^[0-9a-f]{64}$', description });

export const createdEndpointSchema = exactly({
  ...endpoint,
  secret: secret('Signs the deliveries. Shown once.'),
  status,
});
export const endpointsSchema = exactly({
  data: listOf(exactly({ ...endpoint, status, createdAt: timestamp, updatedAt: timestamp })),
});
export const deletedSchema = exactly({ deleted: described('true.', boolean) });
export const overrideSecretSchema = exactly({ secret: secret('Signs what goes to payments’ own URLs. Shown once.') });

const deliverySchema = exactly({
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
});
export const deliveriesSchema = exactly({
  data: listOf(deliverySchema),
  total: described('How many there are in all.', anyInteger),
  limit: described('As asked for.', anyInteger),
  offset: described('As asked for.', anyInteger),
});

export const catalogueSchema = listOf(
  exactly({
    event: described('The name to subscribe to.', string()),
    description: described('When it is sent.', string()),
    legacy: optional(described('true: of the older family, not needed by new integrations.', boolean)),
  }),
);
