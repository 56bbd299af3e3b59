// Routes that list, retrieve and count webhook deliveries (contract.md Webhook management, rule W8).

import type { Static } from 'typebox';
import type { DeliveryFilter, ListedDelivery } from '../../../application/ports/readModels/views.ts';
import type { RedriveFilter } from '../../../application/ports/redrives.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type DeliveryId, type EndpointId, parsePrefixedId, type Tenant } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES, deliveryView } from '../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { EXPECTED, lowerBound, matching, oneOf, upperBound, wholeNumber } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, pathParam, route } from '../../kernel/route.ts';
import type { GatewayServices } from '../../kernel/serverContext.ts';
import {
  deliveriesSchema,
  deliveryStatsSchema,
  deliveryWithAttemptsSchema,
  ON_WEBHOOKS,
  redriveBody,
  redriveSchema,
} from './deliverySchema.ts';

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
    const running = await services.deliveriesRunning(caller.tenant);
    const { deliveries, total } = await services.views.deliveries.list(caller.tenant, filter, running);
    const data = await shown(services, caller.tenant, deliveries);
    return { status: 200, body: { data, total, limit: filter.limit, offset: filter.offset } };
  },
});

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');

/** The path parameter of a delivery. */
const deliveryParam = {
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
    const running = await services.deliveriesRunning(caller.tenant);
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
    const counts = await services.views.deliveries.stats(
      caller.tenant,
      await services.deliveriesRunning(caller.tenant),
    );
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { status: 200, body: { total, ...counts } };
  },
});

// --- Routes that send one delivery, or many failed ones, again (contract.md Delivery behaviour, rule W8) ---

export const retryDeliveryRoute = route('POST', '/v1/webhooks/deliveries/{id}/retry', {
  operationId: 'retryWebhookDelivery',
  params: deliveryParam,
  summary: 'Retry a delivery',
  description:
    'Starts an attempt immediately, whatever the status of the delivery. A delivery that has ended starts a new series of attempts.',
  ...ON_WEBHOOKS,
  responses: { 200: json('The delivery after the call.', deliveryWithAttemptsSchema) },
  errors: ['endpoint_not_active', 'change_limit_reached'],
  handle: async (context) => {
    const { caller, params, services } = context;
    const state = await services.retryDelivery(caller.tenant, params.id, actorOf(context));
    if (isRejection(state)) return state;
    const isUnderWay =
      state.status === 'pending' && (await services.deliveriesRunning(caller.tenant)).includes(params.id);
    const listed = { id: params.id, state, now: { isUnderWay, isPaused: false, dueAt: null } };
    const [[view], attempts] = await Promise.all([
      shown(services, caller.tenant, [listed]),
      services.attemptsOf(params.id),
    ]);
    if (view === undefined) throw new Error(`delivery ${params.id} is not shown`);
    return { status: 200, body: { ...view, attemptLog: attempts.slice(0, view.attempts) } };
  },
});

export const FILTER_CODES = {
  status: 'invalid_filter',
  endpointId: 'invalid_filter',
  eventType: 'invalid_filter',
  createdAfter: 'invalid_filter',
  createdBefore: 'invalid_filter',
} as const;

/** Returns the parsed filters: null if a filter was not sent, undefined if it is invalid. */
const parsedFilters = ({
  endpointId,
  eventType,
  createdAfter,
  createdBefore,
}: Partial<Static<typeof redriveBody>>) => ({
  endpointId:
    endpointId === undefined ? null : (parsePrefixedId<EndpointId>(endpointId, WEBHOOK_ENDPOINT.idPrefix) ?? undefined),
  eventType: eventType === undefined ? null : isCatalogued(eventType) ? eventType : undefined,
  createdAfter: createdAfter === undefined ? null : lowerBound(createdAfter),
  createdBefore: createdBefore === undefined ? null : upperBound(createdBefore),
});
const EXPECTED_OF = {
  endpointId: 'a we_ id',
  eventType: 'an event name of the catalogue',
  createdAfter: EXPECTED,
  createdBefore: EXPECTED,
} as const;

export const filterProblems = (body: Partial<Static<typeof redriveBody>>): readonly CodedProblem[] =>
  Object.entries(parsedFilters(body)).flatMap(([param, parsed]) =>
    parsed === undefined
      ? { param, message: `must be ${EXPECTED_OF[param as keyof typeof EXPECTED_OF]}`, code: 'invalid_filter' as const }
      : [],
  );

export const filterOf = (body: Static<typeof redriveBody>): RedriveFilter => {
  const { endpointId = null, eventType = null, createdAfter = null, createdBefore = null } = parsedFilters(body);
  return { endpointId, eventType, createdFrom: createdAfter, createdTo: createdBefore };
};

export const redriveDeliveriesRoute = route('POST', '/v1/webhooks/deliveries/redrive', {
  operationId: 'redriveWebhookDeliveries',
  summary: 'Retry failed deliveries',
  description:
    'Retries failed deliveries: all of them, or those that match the filters. One delivery per endpoint is sent first. The others follow when it succeeds. With `dryRun`, it only counts them.',
  ...ON_WEBHOOKS,
  body: jsonBody({ schema: redriveBody, codes: FILTER_CODES, refine: filterProblems }),
  responses: {
    202: json('The number of matching deliveries, and how many are sent.', redriveSchema),
  },
  handle: async (context) => {
    const { caller, body, services } = context;
    const wanted = {
      tenant: caller.tenant,
      filter: filterOf(body),
      isDryRun: body.dryRun === true,
      ...actorOf(context),
    };
    const { matched, queued } = await services.askRedrive(wanted);
    return { status: 202, body: { matched, queued } };
  },
});
