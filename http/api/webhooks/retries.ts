// Routes that send one delivery, or many failed ones, again (contract.md Delivery behaviour, rule W8).

import type { Static } from 'typebox';
import type { RedriveFilter } from '../../../application/ports/redrives.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type EndpointId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { EXPECTED, lowerBound, upperBound } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, route } from '../../kernel/route.ts';
import { deliveryParam, shown } from './deliveries.ts';
import { deliveryWithAttemptsSchema, redriveBody, redriveSchema } from './deliverySchema.ts';
import { ON_WEBHOOKS } from './tags.ts';

export const retryDeliveryRoute = route('POST', '/v1/webhooks/deliveries/{id}/retry', {
  operationId: 'retryWebhookDelivery',
  params: deliveryParam,
  summary: 'Retry a delivery',
  description:
    'Starts an attempt immediately, whatever the status of the delivery. A delivery that has ended starts a new series of attempts.',
  ...ON_WEBHOOKS,
  responses: { 200: json('The delivery after the call.', deliveryWithAttemptsSchema) },
  errors: ['endpoint_not_active'],
  handle: async (context) => {
    const { caller, params, services } = context;
    const state = await services.retryDelivery(caller.tenant, params.id, actorOf(context));
    if (isRejection(state)) return state;
    const isUnderWay = state.status === 'pending' && (await services.deliveriesRunning()).includes(params.id);
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
  summary: 'Send failed deliveries again',
  description:
    'Sends failed deliveries again: all of them, or those that match the filters. One delivery per endpoint is sent first. The others follow when it succeeds. With `dryRun`, it only counts them.',
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
