// Routes that list, retrieve and count webhook deliveries (contract.md Webhook management, rule W8).

import type { DeliveryFilter, ListedDelivery } from '../../../application/ports/readModels/views.ts';
import { type DeliveryId, type EndpointId, parsePrefixedId, type Tenant } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES, deliveryView } from '../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { matching, oneOf, wholeNumber } from '../../kernel/query.ts';
import { json, pathParam, route } from '../../kernel/route.ts';
import type { GatewayServices } from '../../kernel/serverContext.ts';
import { deliveriesSchema, deliveryStatsSchema, deliveryWithAttemptsSchema } from './deliverySchema.ts';
import { ON_WEBHOOKS } from './tags.ts';

export const shown = async (
  { accounts, bodiesOf }: Pick<GatewayServices, 'accounts' | 'bodiesOf'>,
  { accountId, mode }: Tenant,
  deliveries: readonly ListedDelivery[],
) => {
  const now = await accounts.now(accountId, mode);
  const bodies = await bodiesOf(deliveries.map(({ state }) => state.delivery));
  return deliveries.map((listed, n) => deliveryView(listed.id, listed.state, listed.now, bodies[n] as string, now));
};

export const listDeliveriesRoute = route('GET', '/v1/webhooks/deliveries', {
  operationId: 'listWebhookDeliveries',
  summary: 'List deliveries',
  description: 'Returns deliveries of this mode, newest first. Filter them by status, event type or endpoint.',
  ...ON_WEBHOOKS,
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  query: {
    status: oneOf('Only deliveries in this status.', DELIVERY_STATUSES),
    eventType: matching('Only deliveries of this event type.', 'an event name of the catalogue', (text) =>
      isCatalogued(text) ? text : undefined,
    ),
    endpointId: matching(
      'Only deliveries to this endpoint.',
      'a we_ id',
      (text) => parsePrefixedId<EndpointId>(text, WEBHOOK_ENDPOINT.idPrefix) ?? undefined,
    ),
    limit: wholeNumber('The maximum number of deliveries to return.', 1, 100, 25),
    offset: wholeNumber('The number of newer deliveries to skip.', 0, 1_000_000_000, 0),
  },
  refusesUnknownQuery: true,
  responses: { 200: json('A page of deliveries.', deliveriesSchema) },
  handle: async ({ caller, query, services }) => {
    const filter = query as unknown as DeliveryFilter;
    const running = await services.deliveriesRunning();
    const { deliveries, total } = await services.views.deliveries.list(caller.tenant, filter, running);
    const data = await shown(services, caller.tenant, deliveries);
    return { status: 200, body: { data, total, limit: filter.limit, offset: filter.offset } };
  },
});

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');

/** The path parameter of a delivery. */
export const deliveryParam = {
  id: pathParam(
    'The `wd_` id of the delivery.',
    (text) => parsePrefixedId<DeliveryId>(text, WEBHOOK_DELIVERY.idPrefix) ?? NO_DELIVERY,
  ),
};

export const getDeliveryRoute = route('GET', '/v1/webhooks/deliveries/{id}', {
  operationId: 'getWebhookDelivery',
  params: deliveryParam,
  summary: 'Retrieve a delivery',
  description:
    'Returns one delivery with its payload and the log of its attempts: time, status code, duration and error.',
  ...ON_WEBHOOKS,
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  responses: { 200: json('The delivery.', deliveryWithAttemptsSchema) },
  handle: async ({ caller, params, services }) => {
    const running = await services.deliveriesRunning();
    const found = await services.views.deliveries.find(caller.tenant, params.id, running);
    if (found === null) return NO_DELIVERY;
    const [view] = await shown(services, caller.tenant, [found]);
    if (view === undefined) return NO_DELIVERY;
    const attempts = await services.attemptsOf(found.id);
    // The stream may contain more attempts than the read model counts.
    return { status: 200, body: { ...view, attemptLog: attempts.slice(0, view.attempts) } };
  },
});

export const deliveryStatsRoute = route('GET', '/v1/webhooks/stats', {
  operationId: 'getWebhookStats',
  summary: 'Count deliveries',
  description: 'Returns the number of deliveries of this mode, in total and by status.',
  ...ON_WEBHOOKS,
  reads: ['webhookDeliveries'],
  responses: {
    200: json('The number of deliveries in each status.', deliveryStatsSchema),
  },
  handle: async ({ caller, services }) => {
    const counts = await services.views.deliveries.stats(caller.tenant, await services.deliveriesRunning());
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { status: 200, body: { total, ...counts } };
  },
});
