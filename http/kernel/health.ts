// Health and metrics (rules S1, S3).
import type { Request } from 'express';
import { isLoopbackHost } from './address.ts';
import * as s from './jsonSchema.ts';
import { json, type Route, route, type Tag } from './route.ts';
import { isSameSecret } from './sameSecret.ts';
import type { Operations } from './serverContext.ts';

export const OPERATIONS: Tag = { name: 'Operations', description: 'Health and metrics for operators of this server.' };

/** Headers that common proxies add. If one is present, the connected peer is not the actual client. */
const FORWARDING =
  /^(?:via|cdn-loop|(?:forwarded|cf|x-(?:forwarded|real|original|proxy|remote|envoy|arr|azure))(?:-.*)?|.*(?:client|connecting|user)-ip)$/;

/**
 * Returns whether the request comes from this machine. Requires a loopback `Host`, because a foreign name may resolve here, and no proxy
 * header, because behind a local proxy every client would look local.
 */
const isFromHere = ({ socket, headers }: Request): boolean =>
  isLoopbackHost(socket.remoteAddress ?? '') &&
  isLoopbackHost((headers.host ?? '').replace(/:\d*$/, '')) &&
  !Object.keys(headers).some((name) => FORWARDING.test(name));

/** Returns whether the request may read /metrics: by the token or, if none is set, from this machine where the settings allow it. */
export const isMonitor = (
  req: Request,
  { metricsToken: token, metricsOnLoopback }: Pick<Operations, 'metricsToken' | 'metricsOnLoopback'>,
): boolean =>
  token === null
    ? metricsOnLoopback && isFromHere(req)
    : isSameSecret(req.headers.authorization ?? '', `Bearer ${token}`);

const parkedSchema = s.optional(
  s.described(
    'Present if streams are parked. An operator should look into them; other streams are not affected.',
    s.exactly({ streams: s.described('Number of parked streams.', s.anyInteger) }),
  ),
);

const auditSchema = s.optional(
  s.described(
    'Present if the audit log no longer follows the event log. An operator should look into it; payments are not affected.',
    s.exactly({ stopped: s.described('Why sealing stopped.', s.string()) }),
  ),
);

const liveRoute = route('GET', '/health/live', {
  operationId: 'getLiveness',
  summary: 'Check that the process is running',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'unlimited',
  responses: {
    200: json('The process is running.', s.exactly({ status: s.constant('live') })),
  },
  handle: async () => ({ status: 200, body: { status: 'live' as const } }),
});

const readyRoute = route('GET', '/health/ready', {
  operationId: 'getReadiness',
  summary: 'Check that the process is ready to serve',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'readiness',
  responses: {
    200: json(
      'The process can append and read events, and its read models lag by at most 5 seconds.',
      s.exactly({ status: s.constant('ready'), parked: parkedSchema, audit: auditSchema }),
    ),
    503: json(
      'The process is not ready; `reason` says why.',
      s.exactly({
        status: s.constant('not_ready'),
        reason: s.described('Why the process is not ready.', s.string()),
        parked: parkedSchema,
        audit: auditSchema,
      }),
    ),
  },
  handle: async ({ services: { operations } }) => {
    const reason = await operations.unreadiness();
    const streams = operations.parkedStreams();
    const stopped = await operations.auditStopped();
    const lines = {
      ...(streams > 0 && { parked: { streams } }),
      ...(stopped !== null && { audit: { stopped } }),
    };
    return reason === null
      ? { status: 200, body: { status: 'ready' as const, ...lines } }
      : { status: 503, body: { status: 'not_ready' as const, reason, ...lines } };
  },
});

const metricsRoute = route('GET', '/metrics', {
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus',
  tag: OPERATIONS,
  principal: 'monitor',
  limit: 'unlimited',
  responses: {
    200: { kind: 'bytes', description: 'The metrics in the Prometheus text format.', contentTypes: ['text/plain'] },
  },
  errors: ['not_found'],
  handle: async ({ services }) => {
    const { contentType, text } = await services.operations.metrics();
    return { status: 200, contentType, bytes: text };
  },
});

export const OPERATIONS_ROUTES: readonly Route[] = [liveRoute, readyRoute, metricsRoute];
