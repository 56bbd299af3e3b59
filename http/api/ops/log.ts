// The event log and what follows it, for operators of the platform (rule O1).

import { recordedEventView } from '../../../application/core/eventView.ts';
import { AlreadyRunning, type WorkProgress } from '../../../application/ports/readModelWork.ts';
import type { LoggedRequest } from '../../../application/ports/requestLog.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { parseStreamName } from '../../../domain/aggregates.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { USER } from '../../../domain/user/user.ts';
import type { EventSink } from '../../kernel/answers.ts';
import {
  anyInteger,
  anyJson,
  boolean,
  described,
  exactly,
  id,
  listOf,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { oneOf, wholeNumber } from '../../kernel/query.ts';
import { route } from '../../kernel/route.ts';
import { upToThousand } from './paging.ts';
import { FOR_OPERATORS } from './tags.ts';

const position = described('In the log; null: nothing yet.', orNull(string()));

const listProjectionsRoute = route({
  method: 'GET',
  path: '/ops/v1/projections',
  operationId: 'listProjections',
  summary: 'How far each read model and process has followed the log',
  description: 'Returns the position of each read model and process in the event log.',
  ...FOR_OPERATORS,
  responses: {
    200: {
      kind: 'json',
      description: 'The newest position, and that of each.',
      schema: exactly({
        head: position,
        data: listOf(exactly({ name: string(), position, isCaughtUp: boolean })),
      }),
    },
  },
  errors: [],
  handle: async ({ services: { platform } }) => {
    const { head, consumers } = await platform.listConsumers();
    return { status: 200, body: { head, data: consumers } };
  },
});

export const eventSchema = exactly({
  stream: string(),
  revision: anyInteger,
  type: string(),
  recordedAt: string(),
  data: described('As it is stored.', anyJson),
  metadata: described('Who caused it, in which account and mode, and because of what.', anyJson),
});
const requestSchema = exactly({
  id: id(PREFIX.requestLog),
  accountId: described('null: of an operator of the platform.', orNull(id(ACCOUNT.idPrefix))),
  userId: orNull(id(USER.idPrefix)),
  requestId: string(),
  mode: described('`test` or `live`; null: of a user, who acts in both.', orNull(string())),
  method: string(),
  path: string(),
  status: anyInteger,
  durationMs: anyInteger,
  keyFingerprint: orNull(string()),
  createdAt: timestamp,
});
const shownRequest = ({ id: of, accountId, userId, logPosition: _, ...request }: LoggedRequest) => ({
  id: PREFIX.requestLog + of,
  accountId: accountId === null ? null : ACCOUNT.idPrefix + accountId,
  userId: userId === null ? null : USER.idPrefix + userId,
  ...request,
});

const NO_REQUEST = reject('not_found', 'No request of the last 30 days had this id, with a right key or token.');
/** Where the log is slow to read. */
const READING_MS_MAX = 20_000;

const showRequestRoute = route({
  method: 'GET',
  path: '/ops/v1/requests/{id}',
  operationId: 'showRequest',
  params: {
    id: {
      description: 'What a client had in `X-Request-Id`, or was given: `req_…`.',
      schema: { type: 'string' },
      parse: (text: string) => (/^[\w.-]{1,128}$/.test(text) ? text : NO_REQUEST),
    },
  },
  summary: 'What a request id meant: the requests that bore it, newest first, and the events that they caused',
  description: 'Returns the requests that carried a request id, and the events that they caused.',
  ...FOR_OPERATORS,
  responses: {
    200: {
      kind: 'json',
      description: 'At most 20 requests.',
      schema: exactly({
        requests: listOf(requestSchema),
        events: described('null: the log was moved or put back since.', orNull(listOf(eventSchema))),
      }),
    },
  },
  errors: ['not_found'],
  handle: async ({ params, services: { platform } }) => {
    const { requests, events } = await platform.findRequest(params.id, AbortSignal.timeout(READING_MS_MAX));
    if (requests.length === 0) return NO_REQUEST;
    return {
      status: 200,
      body: { requests: requests.map(shownRequest), events: events?.map(recordedEventView) ?? null },
    };
  },
});

const NO_STREAM = reject('not_found', 'There is no such stream: payment-<raw id>, or a ch_ id.');

export const streamParam = {
  stream: {
    description: '`payment-<raw id>` or of another category, or simply a `ch_` id.',
    schema: { type: 'string' },
    parse: (text: string) => parseStreamName(text) ?? NO_STREAM,
  },
} as const;

const showStreamRoute = route({
  method: 'GET',
  path: '/ops/v1/events/{stream}',
  operationId: 'showStream',
  params: streamParam,
  summary: 'The events of one stream, in order',
  description: 'Returns the events of one stream in order.',
  ...FOR_OPERATORS,
  query: {
    from: wholeNumber('The first revision that is shown.', 0, Number.MAX_SAFE_INTEGER, 0),
    limit: upToThousand,
  },
  refusesUnknownQuery: true,
  responses: {
    200: {
      kind: 'json',
      description: 'The events, and from where there are more.',
      schema: exactly({
        data: listOf(eventSchema),
        nextFrom: described('null: there are no more.', orNull(anyInteger)),
      }),
    },
  },
  errors: ['not_found'],
  handle: async ({ params, query: { from, limit }, services: { platform } }) => {
    const found = await platform.readStream(params.stream, from, limit + 1);
    if (found.length === 0 && from === 0) return NO_STREAM;
    const nextFrom = found.length > limit ? from + limit : null;
    return { status: 200, body: { data: found.slice(0, limit).map(recordedEventView), nextFrom } };
  },
});

/** Runs until its end, the client's or the process's; what is begun goes on where it was when it is asked for again. */
const streaming = (
  closing: AbortSignal,
  work: (sink: EventSink, signal: AbortSignal) => Promise<void>,
): { readonly status: 200; readonly open: (sink: EventSink) => Promise<void> } => ({
  status: 200,
  open: async (sink) => {
    const gone = new AbortController();
    sink.onClose(() => gone.abort());
    const signal = AbortSignal.any([closing, gone.signal]);
    try {
      await work(sink, signal);
    } catch (error) {
      if (error instanceof AlreadyRunning) sink.send('refused', { message: error.message });
      else if (!signal.aborted) throw error;
    }
    sink.end();
  },
});

/** Work that is long is heard of so often. */
const PROGRESS_EVERY_MS = 1_000;
const progressTo = (sink: EventSink) => {
  let toldMs = Number.NEGATIVE_INFINITY;
  return (progress: WorkProgress): void => {
    const now = performance.now();
    if (now - toldMs < PROGRESS_EVERY_MS) return;
    toldMs = now;
    sink.send('progress', progress);
  };
};

const WORK_EVENTS =
  'Events `progress` ({share, what}), then `report`; or `refused` ({message}), when another one is running.';

export const rebuildProjectionRoute = route({
  method: 'POST',
  path: '/ops/v1/projections/{name}/rebuild',
  operationId: 'rebuildProjection',
  params: {
    name: {
      description: 'The name of a read model, or `all`.',
      schema: { type: 'string' },
      parse: (text: string) => text,
    },
  },
  summary: 'Build a read model anew beside the live copy and swap; cut off, the next one goes on where it was',
  description:
    'Rebuilds a read model beside the live copy and then swaps both. An interrupted rebuild continues with the next call.',
  ...FOR_OPERATORS,
  responses: { 200: { kind: 'eventStream', description: WORK_EVENTS, schema: anyJson } },
  errors: ['not_found'],
  handle: async ({ params: { name }, services: { platform, closing } }) => {
    if (name !== 'all' && !platform.readModels.includes(name))
      return reject('not_found', 'There is no such read model.');
    return streaming(closing, async (sink, signal) => {
      const rebuilt = await platform.rebuild(name, signal, progressTo(sink));
      sink.send('report', { rebuilt });
    });
  },
});

export const verifyProjectionsRoute = route({
  method: 'POST',
  path: '/ops/v1/projections/verify',
  operationId: 'verifyProjections',
  summary: 'Compare every read model with a replay of the log, and each row with the fold of its stream',
  description:
    'Replays the event log and compares the result with every read model. The response streams progress, then a report.',
  ...FOR_OPERATORS,
  responses: { 200: { kind: 'eventStream', description: WORK_EVENTS, schema: anyJson } },
  errors: [],
  handle: async ({ services: { platform, closing } }) =>
    streaming(closing, async (sink, signal) => sink.send('report', await platform.verify(signal, progressTo(sink)))),
});

const yesNo = (description: string) => oneOf(description, ['true', 'false']);

const readLogRoute = route({
  method: 'GET',
  path: '/ops/v1/events',
  operationId: 'readLog',
  summary:
    'Every event of the log in order, up to what it holds now; or, followed, those that are recorded from now on',
  description: 'Streams the event log in order. With `follow`, the stream stays open for new events.',
  ...FOR_OPERATORS,
  query: {
    follow: yesNo('`true`: go on with what is recorded, until the connection ends.'),
    all: yesNo('With `follow`: `true` begins with the first event of the log.'),
  },
  refusesUnknownQuery: true,
  responses: {
    200: { kind: 'eventStream', description: 'Events `event`, each as a stream shows it.', schema: eventSchema },
  },
  errors: [],
  handle: async ({ query, services: { platform, closing } }) => {
    const isLive = query.follow === 'true';
    const from = isLive && query.all !== 'true' ? 'end' : 'start';
    return streaming(closing, async (sink, signal) => {
      for await (const events of platform.readLog(from, isLive, signal)) {
        for (const event of events) sink.send('event', recordedEventView(event));
        await sink.drained();
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
