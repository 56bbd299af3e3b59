// Webhook management (contract.md Webhook management, rule W7).
import type { DeliveryFilter } from '../../../application/ports/readModels/views.ts';
import { type EndpointId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE, isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES, deliveryView, endpointView } from '../../../domain/presentation/delivery.ts';
import { matching, oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import { actorOf, jsonBody, route } from '../../kernel/route.ts';
import {
  catalogueSchema,
  createdEndpointSchema,
  deletedSchema,
  deliveriesSchema,
  endpointsSchema,
  overrideSecretSchema,
  registerEndpointBody,
} from './webhookSchema.ts';

export const registerEndpointRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints',
  operationId: 'registerWebhookEndpoint',
  summary: 'Register an endpoint; its secret is shown once',
  tag: 'Webhooks',
  principal: 'apiKey',
  body: jsonBody({ schema: registerEndpointBody, codes: { url: 'invalid_url', events: 'invalid_event' } }),
  responses: { 201: { kind: 'json', description: 'The endpoint, with its secret.', schema: createdEndpointSchema } },
  errors: ['endpoint_limit_reached'],
  handle: async (context) => {
    const done = await context.services.registerWebhookEndpoint(context.caller.tenant, context.body, actorOf(context));
    if (isRejection(done)) return done;
    const { id, url, events, status } = endpointView(done);
    return { status: 201, body: { id, url, events, secret: done.secret, status } };
  },
});

export const listEndpointsRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints',
  operationId: 'listWebhookEndpoints',
  summary: 'The endpoints, oldest first, without their secrets',
  tag: 'Webhooks',
  principal: 'apiKey',
  reads: ['webhookEndpoints'],
  responses: { 200: { kind: 'json', description: 'The endpoints.', schema: endpointsSchema } },
  errors: [],
  handle: async ({ caller, services }) => {
    const endpoints = await services.views.endpoints.list(caller.tenant);
    return {
      status: 200,
      body: { data: endpoints.map((e) => ({ ...endpointView(e), createdAt: e.createdAt, updatedAt: e.updatedAt })) },
    };
  },
});

/** The endpoint that a path names. */
const endpointParam = {
  id: {
    description: 'The `we_` id of the endpoint.',
    schema: { type: 'string' },
    parse: (text: string) =>
      parsePrefixedId<EndpointId>(text, PREFIX.endpoint) ?? reject('not_found', 'There is no such webhook endpoint.'),
  },
} as const;

export const deleteEndpointRoute = route({
  method: 'DELETE',
  path: '/v1/webhooks/endpoints/{id}',
  operationId: 'deleteWebhookEndpoint',
  params: endpointParam,
  summary: 'Delete an endpoint; its pending deliveries are abandoned',
  tag: 'Webhooks',
  principal: 'apiKey',
  responses: { 200: { kind: 'json', description: 'It is gone.', schema: deletedSchema } },
  errors: ['not_found'],
  handle: async (context) => {
    const { caller, params, services } = context;
    const refused = await services.deleteWebhookEndpoint(caller.tenant, params.id, actorOf(context));
    return refused ?? { status: 200, body: { deleted: true } };
  },
});

export const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'The deliveries, newest first',
  tag: 'Webhooks',
  principal: 'apiKey',
  reads: ['webhookDeliveries'],
  query: {
    status: oneOf('Deliveries in this status.', DELIVERY_STATUSES),
    eventType: matching('Deliveries of this event.', 'an event name of the catalogue', (text) =>
      isCatalogued(text) ? text : undefined,
    ),
    endpointId: matching(
      'Deliveries to this endpoint.',
      'a we_ id',
      (text) => parsePrefixedId<EndpointId>(text, PREFIX.endpoint) ?? undefined,
    ),
    limit: wholeNumber('How many deliveries at most.', 1, 100, 25),
    offset: wholeNumber('How many newer ones to leave out.', 0, 1_000_000_000, 0),
  },
  refusesUnknownQuery: true,
  responses: { 200: { kind: 'json', description: 'A page of deliveries.', schema: deliveriesSchema } },
  errors: [],
  handle: async ({ caller, query, services }) => {
    const filter = query as unknown as DeliveryFilter;
    const running = await services.deliveriesRunning();
    const { deliveries, total } = await services.views.deliveries.list(caller.tenant, filter, running);
    const now = await services.accounts.now(caller.tenant.accountId, caller.tenant.mode);
    const data = deliveries.map((listed) => deliveryView(listed.state, { ...listed.now, now }));
    return {
      status: 200,
      body: { data, total, limit: filter.limit, offset: filter.offset },
    };
  },
});

export const eventCatalogueRoute = route({
  method: 'GET',
  path: '/v1/webhooks/event-catalog',
  operationId: 'listEventCatalogue',
  summary: 'The names that an endpoint can subscribe to',
  tag: 'Webhooks',
  principal: 'public',
  limit: 'catalogue',
  responses: { 200: { kind: 'json', description: 'The catalogue.', schema: catalogueSchema } },
  errors: [],
  handle: async () => ({ status: 200, body: EVENT_CATALOGUE }),
});

export const rotateOverrideSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/override-secret/rotate',
  operationId: 'rotateOverrideSecret',
  summary: 'Replace the secret that signs deliveries to a payment’s webhookUrl; it is shown once',
  tag: 'Webhooks',
  principal: 'apiKey',
  responses: { 200: { kind: 'json', description: 'The new secret.', schema: overrideSecretSchema } },
  errors: [],
  handle: async (context) => {
    const secret = await context.services.rotateOverrideSecret(context.caller.tenant, actorOf(context));
    return isRejection(secret) ? secret : { status: 200, body: { secret } };
  },
});
