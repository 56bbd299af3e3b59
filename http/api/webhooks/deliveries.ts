// Deliveries: their list, one with its attempts, and how many there are (contract.md Webhook management, rule W8).

import type { Tenant } from '../../../application/ports/paymentProvider.ts';
import type { DeliveryFilter, ListedDelivery } from '../../../application/ports/readModels/views.ts';
import { type DeliveryId, type EndpointId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES, deliveryView } from '../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { matching, oneOf, wholeNumber } from '../../kernel/query.ts';
import { route } from '../../kernel/route.ts';
import type { GatewayServices } from '../../kernel/serverContext.ts';
import { deliveriesSchema, deliveryStatsSchema, deliveryWithAttemptsSchema } from './deliverySchema.ts';
import { WEBHOOKS } from './tags.ts';

export const shown = async (
  { accounts, bodiesOf }: Pick<GatewayServices, 'accounts' | 'bodiesOf'>,
  { accountId, mode }: Tenant,
  deliveries: readonly ListedDelivery[],
) => {
  const now = await accounts.now(accountId, mode);
  const bodies = await bodiesOf(deliveries.map(({ state }) => state.delivery));
  return deliveries.map((listed, n) => deliveryView(listed.id, listed.state, listed.now, bodies[n] as string, now));
};

export const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'The deliveries, newest first',
  description: 'Returns deliveries of this mode. Filter them by status, event type or endpoint.',
  tag: WEBHOOKS,
  principal: 'apiKey',
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  query: {
    status: oneOf('Deliveries in this status.', DELIVERY_STATUSES),
    eventType: matching('Deliveries of this event.', 'an event name of the catalogue', (text) =>
      isCatalogued(text) ? text : undefined,
    ),
    endpointId: matching(
      'Deliveries to this endpoint.',
      'a we_ id',
      (text) => parsePrefixedId<EndpointId>(text, WEBHOOK_ENDPOINT.idPrefix) ?? undefined,
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
    const data = await shown(services, caller.tenant, deliveries);
    return { status: 200, body: { data, total, limit: filter.limit, offset: filter.offset } };
  },
});

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');

/** The delivery that a path names. */
export const deliveryParam = {
  id: {
    description: 'The `wd_` id of the delivery.',
    schema: { type: 'string' },
    parse: (text: string) => parsePrefixedId<DeliveryId>(text, WEBHOOK_DELIVERY.idPrefix) ?? NO_DELIVERY,
  },
} as const;

export const getDeliveryRoute = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries/{id}',
  operationId: 'getWebhookDelivery',
  params: deliveryParam,
  summary: 'One delivery, with what came of each attempt',
  description:
    'Returns one delivery with its payload and the log of its attempts: time, status code, duration and error.',
  tag: WEBHOOKS,
  principal: 'apiKey',
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  responses: { 200: { kind: 'json', description: 'The delivery.', schema: deliveryWithAttemptsSchema } },
  errors: ['not_found'],
  handle: async ({ caller, params, services }) => {
    const running = await services.deliveriesRunning();
    const found = await services.views.deliveries.find(caller.tenant, params.id, running);
    if (found === null) return NO_DELIVERY;
    const [view] = await shown(services, caller.tenant, [found]);
    if (view === undefined) return NO_DELIVERY;
    const attempts = await services.attemptsOf(found.id);
    // The stream may be ahead of the row.
    return { status: 200, body: { ...view, attemptLog: attempts.slice(0, view.attempts) } };
  },
});

export const deliveryStatsRoute = route({
  method: 'GET',
  path: '/v1/webhooks/stats',
  operationId: 'getWebhookStats',
  summary: 'How many deliveries there are, in all and in each status',
  description: 'Counts the deliveries of this mode by status.',
  tag: WEBHOOKS,
  principal: 'apiKey',
  reads: ['webhookDeliveries'],
  responses: { 200: { kind: 'json', description: 'The numbers.', schema: deliveryStatsSchema } },
  errors: [],
  handle: async ({ caller, services }) => {
    const counts = await services.views.deliveries.stats(caller.tenant, await services.deliveriesRunning());
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { status: 200, body: { total, ...counts } };
  },
});
