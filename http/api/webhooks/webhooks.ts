// Webhook management (contract.md Webhook management).

import type { DeliveryFilter } from '../../../application/ports/readModels/views.ts';
import { type EndpointId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE, isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES, deliveryView, endpointView } from '../../../domain/presentation/delivery.ts';
import { requesterOf } from '../../kernel/actor.ts';
import { matching, oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import type { Route } from '../../kernel/route.ts';
import {
  catalogueSchema,
  createdEndpointSchema,
  deletedSchema,
  deliveriesSchema,
  endpointsSchema,
  registerEndpointBody,
} from '../schemas.ts';

export const registerEndpointRoute: Route = {
  method: 'POST',
  path: '/v1/webhooks/endpoints',
  operationId: 'registerWebhookEndpoint',
  summary: 'Register an endpoint; its secret is shown once',
  auth: 'apikey',
  body: { schema: registerEndpointBody, codes: { url: 'invalid_url', events: 'invalid_event' } },
  responses: { 201: { description: 'The endpoint, with its secret.', schema: createdEndpointSchema } },
  errors: ['endpoint_limit_reached'],
  handle: async (ask) => {
    const wish = ask.body as { url: string; events: string[] };
    const done = await ask.services.registerWebhookEndpoint(ask.caller.tenant, wish, requesterOf(ask));
    if (isRejection(done)) return done;
    const { id, url, events, status } = endpointView(done);
    return { status: 201, body: { id, url, events, secret: done.secret, status } };
  },
};

export const listEndpointsRoute: Route = {
  method: 'GET',
  path: '/v1/webhooks/endpoints',
  operationId: 'listWebhookEndpoints',
  summary: 'The endpoints, oldest first, without their secrets',
  auth: 'apikey',
  reads: ['webhookEndpoints'],
  responses: { 200: { description: 'The endpoints.', schema: endpointsSchema } },
  errors: [],
  handle: async ({ caller, services }) => {
    const endpoints = await services.views.endpoints.list(caller.tenant);
    return {
      status: 200,
      body: { data: endpoints.map((e) => ({ ...endpointView(e), createdAt: e.createdAt, updatedAt: e.updatedAt })) },
    };
  },
};

export const deleteEndpointRoute: Route = {
  method: 'DELETE',
  path: '/v1/webhooks/endpoints/{id}',
  operationId: 'deleteWebhookEndpoint',
  summary: 'Delete an endpoint; its pending deliveries are abandoned',
  auth: 'apikey',
  responses: { 200: { description: 'It is gone.', schema: deletedSchema } },
  errors: ['not_found'],
  handle: async (ask) => {
    const id = parsePrefixedId<EndpointId>(ask.params['id'] as string, PREFIX.endpoint);
    if (id === null) return reject('not_found', 'There is no such webhook endpoint.');
    const refused = await ask.services.deleteWebhookEndpoint(ask.caller.tenant, id, requesterOf(ask));
    return refused ?? { status: 200, body: { deleted: true } };
  },
};

export const listDeliveriesRoute: Route = {
  method: 'GET',
  path: '/v1/webhooks/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'The deliveries, newest first',
  auth: 'apikey',
  reads: ['webhookDeliveries'],
  query: {
    status: oneOf(DELIVERY_STATUSES),
    eventType: matching('an event name of the catalogue', (text) => (isCatalogued(text) ? text : undefined)),
    endpointId: matching('a we_ id', (text) => parsePrefixedId<EndpointId>(text, PREFIX.endpoint) ?? undefined),
    limit: wholeNumber(1, 100, 25),
    offset: wholeNumber(0, 1_000_000_000, 0),
  },
  refusesUnknownQuery: true,
  responses: { 200: { description: 'A page of deliveries.', schema: deliveriesSchema } },
  errors: ['invalid_filter'],
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
};

export const eventCatalogueRoute: Route = {
  method: 'GET',
  path: '/v1/webhooks/event-catalog',
  operationId: 'listEventCatalogue',
  summary: 'The names that an endpoint can subscribe to',
  auth: 'none',
  responses: { 200: { description: 'The catalogue.', schema: catalogueSchema } },
  errors: [],
  handle: async () => ({ status: 200, body: EVENT_CATALOGUE }),
};
