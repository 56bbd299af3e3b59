// Streams that read models and processes do not take any more, for operators of the platform (rule O1).

import { recordedEventView } from '../../../application/core/eventView.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import {
  accepting,
  anyInteger,
  described,
  exactly,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import { actorOf, jsonBody, route } from '../../kernel/route.ts';
import { eventSchema, streamParam } from './log.ts';
import { FOR_OPERATORS } from './tags.ts';

const OF_CONSUMER = 'Of this read model or process alone.';
const consumerQuery = matching(OF_CONSUMER, 'a name that GET /ops/v1/projections lists', (text) => text || undefined);
const consumer = optional(described(OF_CONSUMER, string(100)));

const parkedSchema = exactly({
  consumer: string(),
  stream: string(),
  accountId: orNull(string()),
  mode: orNull(string()),
  revision: described('Of the first event that was not taken.', anyInteger),
  eventId: string(),
  eventType: string(),
  error: string(),
  parkedAt: timestamp,
});

const listParkedRoute = route({
  method: 'GET',
  path: '/ops/v1/parked',
  operationId: 'listParked',
  summary: 'Streams that a read model or process does not take any more, longest parked first',
  description: 'Returns parked streams: a read model or process could not apply one of their events and stopped there.',
  ...FOR_OPERATORS,
  query: { consumer: consumerQuery },
  refusesUnknownQuery: true,
  responses: {
    200: {
      kind: 'json',
      description: 'Each with the first event that was not taken, and why.',
      schema: exactly({ data: listOf(parkedSchema) }),
    },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => ({
    status: 200,
    body: { data: await platform.listParked(query.consumer ?? null) },
  }),
});

const notParked = (stream: StreamName) => reject('not_found', `${stream} is not parked.`);

const showParkedRoute = route({
  method: 'GET',
  path: '/ops/v1/parked/{stream}',
  operationId: 'showParked',
  params: streamParam,
  summary: 'Who has parked a stream and why, and its events from the first that was not taken',
  description: 'Returns the consumers that parked a stream, the error, and the waiting events.',
  ...FOR_OPERATORS,
  query: { consumer: consumerQuery },
  refusesUnknownQuery: true,
  responses: {
    200: {
      kind: 'json',
      description: 'Those that do not take it, and the events that wait.',
      schema: exactly({ parked: listOf(parkedSchema), events: listOf(eventSchema) }),
    },
  },
  errors: ['not_found'],
  handle: async ({ params: { stream }, query, services: { platform } }) => {
    const found = await platform.showParked(stream, query.consumer ?? null);
    if (found === null) return notParked(stream);
    return { status: 200, body: { parked: found.parked, events: found.events.map(recordedEventView) } };
  },
});

/** A request waits no longer for whoever leads; what is asked for stays so. */
const WAITING_MS_MAX = 20_000;
const patience = (closing: AbortSignal): AbortSignal => AbortSignal.any([closing, AbortSignal.timeout(WAITING_MS_MAX)]);

const TAKEN_UP = {
  200: {
    kind: 'json',
    description: 'What became of each within 20 seconds.',
    schema: exactly({
      data: listOf(
        exactly({
          consumer: string(),
          stream: string(),
          outcome: described(
            '`waiting`: nobody has taken it up yet; it is done as soon as a projector and a worker run.',
            oneOfTexts(['taken', 'parked', 'waiting']),
          ),
          revision: described('Of the event at which it is parked now.', orNull(anyInteger)),
          error: orNull(string()),
        }),
      ),
    }),
  },
} as const;

const retryAllParkedRoute = route({
  method: 'POST',
  path: '/ops/v1/parked/retry',
  operationId: 'retryAllParked',
  summary: 'Have every parked stream taken up again, after the mend; the events of each are applied in order',
  description: 'Retries all parked streams after a fix. The waiting events of each stream are applied in order.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: accepting({ consumer }) }),
  responses: TAKEN_UP,
  errors: [],
  handle: async ({ body, services: { platform, closing } }) => {
    const which = { stream: null, consumer: body.consumer ?? null };
    return { status: 200, body: { data: await platform.retryParked(which, patience(closing)) } };
  },
});

const retryParkedRoute = route({
  method: 'POST',
  path: '/ops/v1/parked/{stream}/retry',
  operationId: 'retryParked',
  params: streamParam,
  summary: 'Have a parked stream taken up again, after the mend; its events are applied in order',
  description: 'Retries one parked stream after a fix. Its waiting events are applied in order.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: accepting({ consumer }) }),
  responses: TAKEN_UP,
  errors: ['not_found'],
  handle: async ({ params: { stream }, body, services: { platform, closing } }) => {
    const data = await platform.retryParked({ stream, consumer: body.consumer ?? null }, patience(closing));
    return data.length === 0 ? notParked(stream) : { status: 200, body: { data } };
  },
});

const REASON_LENGTH_MAX = 500;
/** Above the number of those that there are. */
const CONSUMERS_MAX = 64;

const skipParkedRoute = route({
  method: 'POST',
  path: '/ops/v1/parked/{stream}/skip',
  operationId: 'skipParked',
  params: streamParam,
  summary:
    'Pass over the event at which a stream is parked and take up what follows; recorded in the log, with the reason',
  description: 'Skips the event that blocks a parked stream. The log records the reason.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: accepting({
      reason: described('Why, for whoever reads the log later: no personal data.', string(REASON_LENGTH_MAX)),
      consumer,
      force: optional(
        described(
          'Read models and processes that move money for which it is meant all the same.',
          listOf(string(100), { maxItems: CONSUMERS_MAX }),
        ),
      ),
    }),
    refine: ({ reason }) =>
      reason?.trim() === '' ? [{ param: 'reason', message: 'must say why', code: 'invalid_request' as const }] : [],
  }),
  responses: TAKEN_UP,
  errors: ['not_found'],
  handle: async (context) => {
    const { params, body, services } = context;
    const which = { stream: params.stream, consumer: body.consumer ?? null };
    const why = { reason: body.reason.trim(), forced: body.force ?? [] };
    const done = await services.platform.skipParked(which, why, actorOf(context), patience(services.closing));
    if ('unmeant' in done)
      return reject(
        'invalid_request',
        `Nothing was skipped: what ${done.unmeant.join(', ')} would miss is money, or shown to merchants; if that is meant, name each of them.`,
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
