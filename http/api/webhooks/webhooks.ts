// Routes of the event catalogue, and of the secret for `webhookUrl` (contract.md Webhook management, rule W7).

import { isRejection } from '../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, route } from '../../kernel/route.ts';
import { ON_WEBHOOKS, WEBHOOKS } from './deliverySchema.ts';
import { secretSchema } from './endpointSchema.ts';

const overrideSecretSchema = s.exactly({
  secret: secretSchema('The secret that signs deliveries to `webhookUrl`. Returned only once.'),
});

const catalogueSchema = s.listOf(
  s.exactly({
    event: s.described('The event name to subscribe to.', s.string()),
    description: s.described('When the event is sent.', s.string()),
    legacy: s.optional(
      s.described('`true` for events of the older family, which new integrations don’t need.', s.boolean),
    ),
  }),
);

export const eventCatalogueRoute = route('GET', '/v1/webhooks/event-catalog', {
  operationId: 'listEventCatalogue',
  summary: 'List the event catalogue',
  description:
    'Returns every event name that an endpoint can subscribe to, with its description. This operation requires no key.',
  tag: WEBHOOKS,
  principal: 'public',
  limit: 'catalogue',
  responses: { 200: json('The catalogue.', catalogueSchema) },
  handle: async () => ({ status: 200, body: EVENT_CATALOGUE }),
});

export const rotateOverrideSecretRoute = route('POST', '/v1/webhooks/override-secret/rotate', {
  operationId: 'rotateOverrideSecret',
  summary: 'Rotate the secret for webhookUrl',
  description:
    'Replaces the secret that signs deliveries to the `webhookUrl` of payments. The old secret stops working immediately. Store the `secret`: later responses don’t contain it.',
  ...ON_WEBHOOKS,
  responses: { 200: json('The new secret.', overrideSecretSchema) },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const secret = await context.services.rotateOverrideSecret(context.caller.tenant, actorOf(context));
    return isRejection(secret) ? secret : { status: 200, body: { secret } };
  },
});
