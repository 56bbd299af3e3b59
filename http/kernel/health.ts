// Health and metrics (rules S1, S3).
import type { Request } from 'express';
import { isLoopbackHost } from './address.ts';
import { isSameSecret } from './authentication.ts';
import { anyInteger, constant, described, exactly, optional, string } from './jsonSchema.ts';
import { type Route, route, type Tag } from './route.ts';
import type { Operations } from './serverContext.ts';

export const OPERATIONS: Tag = { name: 'Operations', description: 'Health and metrics, for whoever runs this server.' };

/** What proxies add, of whatever make: who asks is then not who is connected. */
const FORWARDING =
  /^(?:via|cdn-loop|(?:forwarded|cf|x-(?:forwarded|real|original|proxy|remote|envoy|arr|azure))(?:-.*)?|.*(?:client|connecting|user)-ip)$/;

/** The socket's own address: behind a proxy on this machine every client would look local, and a name of elsewhere may lead here. */
const isFromHere = ({ socket, headers }: Request): boolean =>
  isLoopbackHost(socket.remoteAddress ?? '') &&
  isLoopbackHost((headers.host ?? '').replace(/:\d*$/, '')) &&
  !Object.keys(headers).some((name) => FORWARDING.test(name));

/** Whether the request may read /metrics: it bears the token or, where there is none, comes from this machine and that is enough. */
export const isMonitor = (
  req: Request,
  { metricsToken: token, metricsOnLoopback }: Pick<Operations, 'metricsToken' | 'metricsOnLoopback'>,
): boolean =>
  token === null
    ? metricsOnLoopback && isFromHere(req)
    : isSameSecret(req.headers.authorization ?? '', `Bearer ${token}`);

const parkedSchema = optional(
  described(
    'There when an operator should look: nothing else waits for these streams.',
    exactly({ streams: described('How many are parked.', anyInteger) }),
  ),
);

const liveRoute = route({
  method: 'GET',
  path: '/health/live',
  operationId: 'getLiveness',
  summary: 'Whether the process runs',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'unlimited',
  responses: {
    200: { kind: 'json', description: 'It does.', schema: exactly({ status: constant('live') }) },
  },
  errors: [],
  handle: async () => ({ status: 200, body: { status: 'live' as const } }),
});

const readyRoute = route({
  method: 'GET',
  path: '/health/ready',
  operationId: 'getReadiness',
  summary: 'Whether the process can serve',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'readiness',
  responses: {
    200: {
      kind: 'json',
      description: 'It can append and read, and its read models are at most 5 s behind.',
      schema: exactly({ status: constant('ready'), parked: parkedSchema }),
    },
    503: {
      kind: 'json',
      description: 'It can’t, and why.',
      schema: exactly({
        status: constant('not_ready'),
        reason: described('What is in the way.', string()),
        parked: parkedSchema,
      }),
    },
  },
  errors: [],
  handle: async ({ services: { operations } }) => {
    const reason = await operations.unreadiness();
    const streams = operations.parkedStreams();
    const parked = streams === 0 ? {} : { parked: { streams } };
    return reason === null
      ? { status: 200, body: { status: 'ready' as const, ...parked } }
      : { status: 503, body: { status: 'not_ready' as const, reason, ...parked } };
  },
});

const metricsRoute = route({
  method: 'GET',
  path: '/metrics',
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus',
  tag: OPERATIONS,
  principal: 'monitor',
  limit: 'unlimited',
  responses: { 200: { kind: 'bytes', description: 'In the text format.', contentTypes: ['text/plain'] } },
  errors: ['not_found'],
  handle: async ({ services }) => {
    const { contentType, text } = await services.operations.metrics();
    return { status: 200, contentType, bytes: text };
  },
});

export const OPERATIONS_ROUTES: readonly Route[] = [liveRoute, readyRoute, metricsRoute];
