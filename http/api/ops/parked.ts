// Routes of parked streams, which a read model or process no longer follows, for operators of the platform (rule O1).

import { recordedEventView } from '../../../application/core/eventView.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, route } from '../../kernel/route.ts';
import { eventSchema, streamParam } from './log.ts';
import { FOR_OPERATORS } from './operatorRoutes.ts';

const OF_CONSUMER = 'Only streams that this read model or process parked.';
const consumerQuery = matching(OF_CONSUMER, 'a name that GET /ops/v1/projections lists', (text) => text || undefined);
const consumer = s.optional(s.described(OF_CONSUMER, s.string(100)));

const parkedSchema = s.exactly({
  consumer: s.string(),
  stream: s.string(),
  accountId: s.orNull(s.string()),
  mode: s.orNull(s.string()),
  revision: s.described('The revision of the first event that was not applied.', s.anyInteger),
  eventId: s.string(),
  eventType: s.string(),
  error: s.string(),
  parkedAt: s.timestamp,
});

const listParkedRoute = route('GET', '/ops/v1/parked', {
  operationId: 'listParked',
  summary: 'List parked streams',
  description:
    'Returns parked streams, longest parked first. A stream is parked when a read model or process can’t apply one of its events.',
  ...FOR_OPERATORS,
  query: { consumer: consumerQuery },
  refusesUnknownQuery: true,
  responses: {
    200: json(
      'The parked streams. Each has the first event that was not applied, and the error.',
      s.exactly({ data: s.listOf(parkedSchema) }),
    ),
  },
  handle: async ({ query, services: { platform } }) => ({
    status: 200,
    body: { data: await platform.listParked(query.consumer ?? null) },
  }),
});

export const notParked = (stream: StreamName) => reject('not_found', `${stream} is not parked.`);

const showParkedRoute = route('GET', '/ops/v1/parked/{stream}', {
  operationId: 'showParked',
  params: streamParam,
  summary: 'Retrieve a parked stream',
  description: 'Returns the consumers that parked a stream, the error, and the waiting events.',
  ...FOR_OPERATORS,
  query: { consumer: consumerQuery },
  refusesUnknownQuery: true,
  responses: {
    200: json(
      'The consumers that parked the stream, and its waiting events.',
      s.exactly({ parked: s.listOf(parkedSchema), events: s.listOf(eventSchema) }),
    ),
  },
  handle: async ({ params: { stream }, query, services: { platform } }) => {
    const found = await platform.showParked(stream, query.consumer ?? null);
    if (found === null) return notParked(stream);
    return { status: 200, body: { parked: found.parked, events: found.events.map(recordedEventView) } };
  },
});

/** The longest wait of a request for the leading projector and worker. The retry or skip stays requested. */
const WAITING_MS_MAX = 20_000;
export const waitLimit = (closing: AbortSignal): AbortSignal =>
  AbortSignal.any([closing, AbortSignal.timeout(WAITING_MS_MAX)]);

const RESUMED = {
  200: json(
    'The outcome of each stream within 20 seconds.',
    s.exactly({
      data: s.listOf(
        s.exactly({
          consumer: s.string(),
          stream: s.string(),
          outcome: s.described(
            '`taken`: the stream is no longer parked. `parked`: it is parked again. `waiting`: it is processed as soon as a projector and a worker run.',
            s.oneOfTexts(['taken', 'parked', 'waiting']),
          ),
          revision: s.described('The revision of the event at which the stream is parked now.', s.orNull(s.anyInteger)),
          error: s.orNull(s.string()),
        }),
      ),
    }),
  ),
} as const;

const retryAllParkedRoute = route('POST', '/ops/v1/parked/retry', {
  operationId: 'retryAllParked',
  summary: 'Retry all parked streams',
  description: 'Retries all parked streams after a fix. The waiting events of each stream are applied in order.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.accepting({ consumer }) }),
  responses: RESUMED,
  handle: async ({ body, services: { platform, closing } }) => {
    const which = { stream: null, consumer: body.consumer ?? null };
    return { status: 200, body: { data: await platform.retryParked(which, waitLimit(closing)) } };
  },
});

const retryParkedRoute = route('POST', '/ops/v1/parked/{stream}/retry', {
  operationId: 'retryParked',
  params: streamParam,
  summary: 'Retry a parked stream',
  description: 'Retries one parked stream after a fix. Its waiting events are applied in order.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.accepting({ consumer }) }),
  responses: RESUMED,
  handle: async ({ params: { stream }, body, services: { platform, closing } }) => {
    const data = await platform.retryParked({ stream, consumer: body.consumer ?? null }, waitLimit(closing));
    return data.length === 0 ? notParked(stream) : { status: 200, body: { data } };
  },
});

/** Longest reason of a skip, in characters. */
const SKIP_REASON_MAX = 500;
/** More than the number of existing read models and processes. */
const CONSUMERS_MAX = 64;

const skipParkedRoute = route('POST', '/ops/v1/parked/{stream}/skip', {
  operationId: 'skipParked',
  params: streamParam,
  summary: 'Skip the event that blocks a parked stream',
  description:
    'Skips the event at which a stream is parked and applies the events after it. The log records the reason.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.accepting({
      reason: s.described(
        'The reason, which is recorded in the log. Don’t include personal data.',
        s.string(SKIP_REASON_MAX),
      ),
      consumer,
      force: s.optional(
        s.described(
          'The read models and processes that may skip the event although they would miss money or data that merchants see.',
          s.listOf(s.string(100), { maxItems: CONSUMERS_MAX }),
        ),
      ),
    }),
    refine: ({ reason }) =>
      reason?.trim() === ''
        ? [{ param: 'reason', message: 'must not be blank', code: 'invalid_request' as const }]
        : [],
  }),
  responses: RESUMED,
  handle: async (context) => {
    const { params, body, services } = context;
    const which = { stream: params.stream, consumer: body.consumer ?? null };
    const why = { reason: body.reason.trim(), forced: body.force ?? [] };
    const done = await services.platform.skipParked(which, why, actorOf(context), waitLimit(services.closing));
    if ('unmeant' in done)
      return reject(
        'invalid_request',
        `Nothing was skipped: ${done.unmeant.join(', ')} would miss money or data that merchants see. To skip anyway, name each of them in force.`,
        { param: 'force' },
      );
    return done.length === 0 ? notParked(params.stream) : { status: 200, body: { data: done } };
  },
});

export const OPS_PARKED_ROUTES = [
  listParkedRoute,
  retryAllParkedRoute,
  showParkedRoute,
  retryParkedRoute,
  skipParkedRoute,
];
