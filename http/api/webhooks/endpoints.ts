// Routes of webhook endpoints (contract.md Webhook management, rules W5, W6).

import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type EndpointId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { unknownEventIn } from '../../../domain/presentation/catalogue.ts';
import { ENDPOINT_STATE, endpointHealth, endpointView } from '../../../domain/presentation/endpoint.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { actorOf, json, jsonBody, ok, pathParam, route, type ValidationContext } from '../../kernel/route.ts';
import { ON_WEBHOOKS } from './deliverySchema.ts';
import {
  changedEndpointSchema,
  changeEndpointBody,
  createdEndpointSchema,
  deletedSchema,
  endpointsSchema,
  pingSchema,
  registerEndpointBody,
  rotatedSecretSchema,
  rotateSecretBody,
} from './endpointSchema.ts';
import { webhookUrlProblems } from './webhookUrl.ts';

const CODES = { url: 'invalid_url', events: 'invalid_event' } as const;

/** Returns the problems of the URL and of the events, so that both are reported at once (E2). */
const endpointProblems = (
  { url, events = [] }: { readonly url?: string; readonly events?: readonly string[] },
  context: ValidationContext,
): readonly CodedProblem[] => {
  const unknown = unknownEventIn(events);
  const message = `must not contain the unknown event ${unknown}: GET /v1/webhooks/event-catalog lists all events`;
  return [
    ...webhookUrlProblems('url', url, context),
    ...(unknown === undefined ? [] : [{ code: CODES.events, param: 'events', message }]),
  ];
};

export const registerEndpointRoute = route('POST', '/v1/webhooks/endpoints', {
  operationId: 'registerWebhookEndpoint',
  summary: 'Register an endpoint',
  description:
    'Registers a URL for the given events. Store the `secret`: later responses don’t contain it. An account has at most 16 endpoints in each mode.',
  ...ON_WEBHOOKS,
  body: jsonBody({ schema: registerEndpointBody, codes: CODES, refine: endpointProblems }),
  responses: { 201: json('The endpoint, with its secret.', createdEndpointSchema) },
  errors: ['endpoint_limit_reached'],
  handle: async (context) => {
    const done = await context.services.registerWebhookEndpoint(context.caller.tenant, context.body, actorOf(context));
    if (isRejection(done)) return done;
    const { id, url, events, status } = endpointView({ ...done, status: 'active' });
    return { status: 201, body: { id, url, events, secret: done.secret, status } };
  },
});

export const listEndpointsRoute = route('GET', '/v1/webhooks/endpoints', {
  operationId: 'listWebhookEndpoints',
  summary: 'List endpoints',
  description:
    'Returns all endpoints of this mode, oldest first, without their secrets. `health` shows whether deliveries to an endpoint succeed and how many wait.',
  ...ON_WEBHOOKS,
  reads: ['webhookEndpoints'],
  responses: { 200: json('The endpoints.', endpointsSchema) },
  handle: async ({ caller, services }) => {
    const endpoints = await services.views.endpoints.list(caller.tenant);
    const failing = await services.failingTargets(endpoints.map(({ endpointId }) => endpointId));
    const data = endpoints.map((endpoint) => ({
      ...endpointView(endpoint),
      health: endpointHealth(failing.get(endpoint.endpointId) ?? null),
      createdAt: endpoint.createdAt,
      updatedAt: endpoint.updatedAt,
    }));
    return { status: 200, body: { data } };
  },
});

/** The path parameter of an endpoint. */
export const endpointParam = {
  id: pathParam(
    'The `we_` id of the endpoint.',
    (text) =>
      parsePrefixedId<EndpointId>(text, WEBHOOK_ENDPOINT.idPrefix) ??
      reject('not_found', 'There is no such webhook endpoint.'),
  ),
};

export const changeEndpointRoute = route('PATCH', '/v1/webhooks/endpoints/{id}', {
  operationId: 'changeWebhookEndpoint',
  params: endpointParam,
  summary: 'Change an endpoint',
  description:
    'Changes the URL, the events or the status of an endpoint. Fields that you omit keep their values. An INACTIVE endpoint gets no new deliveries.',
  ...ON_WEBHOOKS,
  body: jsonBody({ schema: changeEndpointBody, codes: CODES, refine: endpointProblems }),
  responses: { 200: json('The endpoint after the change.', changedEndpointSchema) },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, params, body, services } = context;
    const { url = null, events = null, status } = body;
    const wish = { url, events, status: status === undefined ? null : ENDPOINT_STATE[status] };
    return ok(await services.changeWebhookEndpoint(caller.tenant, params.id, wish, actorOf(context)), endpointView);
  },
});

export const rotateSecretRoute = route('POST', '/v1/webhooks/endpoints/{id}/rotate-secret', {
  operationId: 'rotateWebhookSecret',
  params: endpointParam,
  summary: 'Rotate the secret of an endpoint',
  description:
    'Replaces the signing secret. The old secret stops working immediately, so update your receiver when the response arrives. Store the `secret`: later responses don’t contain it.',
  ...ON_WEBHOOKS,
  body: jsonBody({ schema: rotateSecretBody }),
  responses: { 200: json('The new secret.', rotatedSecretSchema) },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, params, body, services } = context;
    const id = WEBHOOK_ENDPOINT.idPrefix + params.id;
    for (const param of ['id', 'endpointId'] as const)
      if (body[param] !== undefined && body[param] !== id)
        return reject('invalid_request', `\`${param}\` in the body must be the id in the path.`, { param });
    const secret = await services.rotateWebhookSecret(caller.tenant, params.id, actorOf(context));
    return isRejection(secret) ? secret : { status: 200, body: { id, secret } };
  },
});

export const pingEndpointRoute = route('POST', '/v1/webhooks/endpoints/{id}/ping', {
  operationId: 'pingWebhookEndpoint',
  params: endpointParam,
  summary: 'Ping an endpoint',
  description:
    'Sends a signed `ping` to the endpoint and waits at most 30 seconds for its response. A ping is neither an event nor a delivery, so no list contains it.',
  ...ON_WEBHOOKS,
  responses: {
    200: json('The result of the ping.', pingSchema),
  },
  handle: async ({ caller, params, services }) => {
    const outcome = await services.pingEndpoint(caller.tenant, params.id);
    if (isRejection(outcome)) return outcome;
    const { ok: delivered, statusCode, error, durationMs } = outcome;
    return { status: 200, body: { delivered, statusCode, error, durationMs } };
  },
});

export const deleteEndpointRoute = route('DELETE', '/v1/webhooks/endpoints/{id}', {
  operationId: 'deleteWebhookEndpoint',
  params: endpointParam,
  summary: 'Delete an endpoint',
  description: 'Deletes an endpoint. Its pending deliveries are cancelled.',
  ...ON_WEBHOOKS,
  responses: { 200: json('The endpoint is deleted.', deletedSchema) },
  handle: async (context) => {
    const { caller, params, services } = context;
    const refused = await services.deleteWebhookEndpoint(caller.tenant, params.id, actorOf(context));
    return refused ?? { status: 200, body: { deleted: true } };
  },
});
