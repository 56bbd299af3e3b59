// Routes of the event log and its consumers, for operators of the platform (rule O1).

import { recordedEventView } from '../../../application/core/eventView.ts';
import { AlreadyRunning, type WorkProgress } from '../../../application/ports/readModelWork.ts';
import { repeating } from '../../../application/ports/repeating.ts';
import type { LoggedRequest } from '../../../application/ports/requestLog.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { parseStreamName } from '../../../domain/aggregates.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { USER } from '../../../domain/user/user.ts';
import type { EventSink } from '../../kernel/answers.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { oneOf, wholeNumber } from '../../kernel/query.ts';
import { json, pathParam, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, upToThousand } from './operatorRoutes.ts';

const position = s.described('A position in the event log; null until there is one.', s.orNull(s.string()));

const listProjectionsRoute = route('GET', '/ops/v1/projections', {
  operationId: 'listProjections',
  summary: 'List the positions of read models and processes',
  description: 'Returns how far each read model and process has come in the event log, and the version of its tables.',
  ...FOR_OPERATORS,
  responses: {
    200: json(
      'The newest position in the log, and the position of each consumer.',
      s.exactly({
        head: position,
        data: s.listOf(
          s.exactly({
            name: s.string(),
            position,
            partitions: s.described(
              'The partitions of a divided consumer, whose position is the least of theirs; empty: it is not divided.',
              s.listOf(s.exactly({ partition: s.anyInteger, position })),
            ),
            version: s.described('The version of its tables; null: it has not started.', s.orNull(s.anyInteger)),
            isCaughtUp: s.boolean,
            lagSeconds: s.described(
              'Age of the first event that it has not processed; null if the log can’t be read from there.',
              s.orNull(s.anyInteger),
            ),
          }),
        ),
      }),
    ),
  },
  handle: async ({ services: { platform } }) => {
    const { head, consumers } = await platform.listConsumers();
    return { status: 200, body: { head, data: consumers } };
  },
});

export const eventSchema = s.exactly({
  stream: s.string(),
  revision: s.anyInteger,
  type: s.string(),
  recordedAt: s.string(),
  data: s.described('The stored event data.', s.anyJson),
  metadata: s.described('The actor, account, mode and cause of the event.', s.anyJson),
});
const requestSchema = s.exactly({
  id: s.id(PREFIX.requestLog),
  accountId: s.described(
    'The account of the caller; null for an operator of the platform.',
    s.orNull(s.id(ACCOUNT.idPrefix)),
  ),
  userId: s.orNull(s.id(USER.idPrefix)),
  requestId: s.string(),
  mode: s.described('`test` or `live`; null for a user, who acts in both modes.', s.orNull(s.string())),
  method: s.string(),
  path: s.string(),
  status: s.anyInteger,
  durationMs: s.anyInteger,
  keyFingerprint: s.orNull(s.string()),
  createdAt: s.timestamp,
});
const shownRequest = ({ id: of, accountId, userId, logPosition: _, ...request }: LoggedRequest) => ({
  id: PREFIX.requestLog + of,
  accountId: accountId === null ? null : ACCOUNT.idPrefix + accountId,
  userId: userId === null ? null : USER.idPrefix + userId,
  ...request,
});

const NO_REQUEST = reject('not_found', 'No request of the last 30 days with a valid key or token has this id.');
/** The longest time to read the log. */
const READING_MS_MAX = 20_000;

const showRequestRoute = route('GET', '/ops/v1/requests/{id}', {
  operationId: 'showRequest',
  params: {
    id: pathParam('A value of `X-Request-Id`: sent by the client, or generated as `req_…`.', (text) =>
      /^[\w.-]{1,128}$/.test(text) ? text : NO_REQUEST,
    ),
  },
  summary: 'Look up a request id',
  description: 'Returns the requests with this id, newest first, and the events that they caused.',
  ...FOR_OPERATORS,
  responses: {
    200: json(
      'At most 20 requests, and their events.',
      s.exactly({
        requests: s.listOf(requestSchema),
        events: s.described(
          'The caused events; null if the log was moved or restored since.',
          s.orNull(s.listOf(eventSchema)),
        ),
      }),
    ),
  },
  handle: async ({ params, services: { platform } }) => {
    const { requests, events } = await platform.findRequest(params.id, AbortSignal.timeout(READING_MS_MAX));
    if (requests.length === 0) return NO_REQUEST;
    return {
      status: 200,
      body: { requests: requests.map(shownRequest), events: events?.map(recordedEventView) ?? null },
    };
  },
});

const NO_STREAM = reject('not_found', 'There is no such stream. Use a name like payment-<raw id>, or a ch_ id.');

export const streamParam = {
  stream: pathParam(
    'The name of a stream, such as `payment-<raw id>`, or a `ch_` id.',
    (text) => parseStreamName(text) ?? NO_STREAM,
  ),
};

const showStreamRoute = route('GET', '/ops/v1/events/{stream}', {
  operationId: 'showStream',
  params: streamParam,
  summary: 'Read the events of a stream',
  description: 'Returns the events of one stream in order.',
  ...FOR_OPERATORS,
  query: {
    from: wholeNumber('The first revision to return.', 0, Number.MAX_SAFE_INTEGER, 0),
    limit: upToThousand,
  },
  refusesUnknownQuery: true,
  responses: {
    200: json(
      'The events, and the revision at which the next page starts.',
      s.exactly({
        data: s.listOf(eventSchema),
        nextFrom: s.described('Pass it as `from` to get the next page; null on the last page.', s.orNull(s.anyInteger)),
      }),
    ),
  },
  handle: async ({ params, query: { from, limit }, services: { platform } }) => {
    const found = await platform.readStream(params.stream, from, limit + 1);
    if (found.length === 0 && from === 0) return NO_STREAM;
    const nextFrom = found.length > limit ? from + limit : null;
    return { status: 200, body: { data: found.slice(0, limit).map(recordedEventView), nextFrom } };
  },
});

/** Streams the events of `work` until it ends, the client disconnects, or `closing` aborts. */
const streaming = (
  closing: AbortSignal,
  work: (sink: EventSink, signal: AbortSignal) => Promise<void>,
): { readonly status: 200; readonly open: (sink: EventSink) => Promise<void> } => ({
  status: 200,
  open: async (sink) => {
    const disconnected = new AbortController();
    sink.onClose(() => disconnected.abort());
    const signal = AbortSignal.any([closing, disconnected.signal]);
    try {
      await work(sink, signal);
    } catch (error) {
      if (error instanceof AlreadyRunning) sink.send('refused', { message: error.message });
      else if (!signal.aborted) throw error;
    }
    sink.end();
  },
});

/** The shortest time between two progress events. */
const PROGRESS_EVERY_MS = 1_000;
const progressTo = (sink: EventSink) => {
  let lastSentMs = Number.NEGATIVE_INFINITY;
  return (progress: WorkProgress): void => {
    const now = performance.now();
    if (now - lastSentMs < PROGRESS_EVERY_MS) return;
    lastSentMs = now;
    sink.send('progress', progress);
  };
};

const WORK_EVENTS =
  'Events `progress` ({share, what}), then one event `report`. If the same work is already running, one event `refused` ({message}).';

export const rebuildProjectionRoute = route('POST', '/ops/v1/projections/{name}/rebuild', {
  operationId: 'rebuildProjection',
  params: {
    name: pathParam('The name of a read model, or `all`.', (text) => text),
  },
  summary: 'Rebuild a read model',
  description:
    'Rebuilds a read model beside the live copy and then swaps them. The next call resumes an interrupted rebuild.',
  ...FOR_OPERATORS,
  responses: { 200: { kind: 'eventStream', description: WORK_EVENTS, schema: s.anyJson } },
  handle: async ({ params: { name }, services: { platform, closing } }) => {
    if (name !== 'all' && !platform.readModels.includes(name))
      return reject('not_found', 'There is no such read model.');
    return streaming(closing, async (sink, signal) => {
      const rebuilt = await platform.rebuild(name, signal, progressTo(sink));
      sink.send('report', { rebuilt });
    });
  },
});

export const verifyProjectionsRoute = route('POST', '/ops/v1/projections/verify', {
  operationId: 'verifyProjections',
  summary: 'Verify the read models',
  description:
    'Compares every read model with a replay of the event log, and each row with the fold of its stream. The response streams progress, then a report.',
  ...FOR_OPERATORS,
  responses: { 200: { kind: 'eventStream', description: WORK_EVENTS, schema: s.anyJson } },
  handle: async ({ services: { platform, closing } }) =>
    streaming(closing, async (sink, signal) => sink.send('report', await platform.verify(signal, progressTo(sink)))),
});

/** How often an open stream of the log checks the session of its reader. */
const SESSION_CHECK_MS = 3_000;

const yesNo = (description: string) => oneOf(description, ['true', 'false']);

const readLogRoute = route('GET', '/ops/v1/events', {
  operationId: 'readLog',
  summary: 'Stream the event log',
  description:
    'Streams all events of the log in order. With `follow`, it streams new events instead, until the connection or the session ends.',
  ...FOR_OPERATORS,
  query: {
    follow: yesNo('`true` keeps the stream open and sends new events.'),
    all: yesNo('With `follow`, `true` starts at the first event of the log.'),
  },
  refusesUnknownQuery: true,
  responses: {
    200: {
      kind: 'eventStream',
      description: 'Events `event`, each in the form that `showStream` returns.',
      schema: eventSchema,
    },
  },
  handle: async ({ query, caller: { sessionId }, services: { platform, closing, isSessionActive } }) => {
    const isLive = query.follow === 'true';
    const from = isLive && query.all !== 'true' ? 'end' : 'start';
    const loggedOut = new AbortController();
    return streaming(AbortSignal.any([closing, loggedOut.signal]), async (sink, ending) => {
      const check = async () => {
        if (!(await isSessionActive(sessionId))) loggedOut.abort();
      };
      const checks = repeating(SESSION_CHECK_MS, check, { onError: () => loggedOut.abort() });
      try {
        for await (const events of platform.readLog(from, isLive, ending)) {
          // After each event, because a batch may have many megabytes.
          for (const event of events) {
            sink.send('event', recordedEventView(event));
            await sink.drained(ending);
            if (ending.aborted) return;
          }
        }
      } finally {
        await checks.stop();
      }
    });
  },
});

export const OPS_LOG_ROUTES = [
  listProjectionsRoute,
  verifyProjectionsRoute,
  rebuildProjectionRoute,
  readLogRoute,
  showRequestRoute,
  showStreamRoute,
];
