// The requests of an account, for its dashboard (rule D3).

import type { LoggedRequest } from '../../../application/ports/requestLog.ts';
import { PREFIX, parsePrefixedId, type RequestLogId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../kernel/errors.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import {
  anyInteger,
  boolean,
  constant,
  described,
  exactly,
  id,
  listOf,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { matching, wholeNumber } from '../../kernel/query.ts';
import { route } from '../../kernel/route.ts';
import { DASHBOARD } from '../access/tags.ts';

const loggedRequestSchema = exactly({
  id: id(PREFIX.requestLog),
  request_id: described('As the client sent it in `X-Request-Id`, or the one it was given.', string()),
  method: string(),
  path: described('Without the query, cut to 256 characters.', string()),
  status: anyInteger,
  duration_ms: anyInteger,
  key_fingerprint: described('Of the API key; null for a user of the dashboard.', orNull(string())),
  created_at: timestamp,
});

const requestLogsSchema = exactly({
  object: constant('list'),
  data: listOf(loggedRequestSchema),
  has_more: boolean,
  next_cursor: orNull(id(PREFIX.requestLog)),
});

const shown = (request: LoggedRequest) => ({
  id: PREFIX.requestLog + request.id,
  request_id: request.requestId,
  method: request.method,
  path: request.path,
  status: request.status,
  duration_ms: request.durationMs,
  key_fingerprint: request.keyFingerprint,
  created_at: request.createdAt,
});

/** All that this service answers. */
const STATUSES = [...new Set([200, 201, 202, 204, ...Object.values(ERRORS).map(({ status }) => status)])];

/** `404`, or `4xx` for all of a class. */
const statusesOf = (text: string): readonly number[] | undefined => {
  if (/^[1-5]xx$/.test(text)) return STATUSES.filter((status) => String(status)[0] === text[0]);
  return /^[1-5]\d\d$/.test(text) ? [Number(text)] : undefined;
};

const NO_CURSOR = reject('invalid_cursor', 'starting_after is not one of your requests.', { param: 'starting_after' });

const listRequestLogsRoute = route({
  method: 'GET',
  path: '/v1/request-logs',
  operationId: 'listRequestLogs',
  summary: 'The requests of the last 30 days with the account’s keys and users, both modes, newest first',
  description:
    'Returns API requests of the last 30 days in both modes, newest first. Filter them to find a request that failed.',
  tag: DASHBOARD,
  principal: 'session',
  query: {
    limit: wholeNumber('How many requests at most.', 1, 100, 25),
    starting_after: matching(
      'The last request of the page before: `next_cursor` of its answer.',
      'a log_ id',
      (text) => parsePrefixedId<RequestLogId>(text, PREFIX.requestLog) ?? undefined,
      'invalid_cursor',
    ),
    status: matching(
      'Requests answered with this status, or one of this class.',
      'a status like 404, or 4xx',
      statusesOf,
    ),
    key: matching('Requests with the key of this fingerprint.', '16 hexadecimal digits', (text) =>
      /^[0-9a-f]{16}$/.test(text) ? text : undefined,
    ),
  },
  refusesUnknownQuery: true,
  responses: { 200: { kind: 'json', description: 'A page of requests.', schema: requestLogsSchema } },
  errors: [],
  handle: async ({ caller, query, services: { requestLog } }) => {
    const { accountId } = caller.tenant;
    const cursor = query.starting_after;
    const after = cursor === undefined ? null : await requestLog.find(accountId, cursor);
    if (cursor !== undefined && after === null) return NO_CURSOR;
    const filter = { statuses: query.status ?? null, keyFingerprint: query.key ?? null };
    // One more than asked for tells whether there are more.
    const found = await requestLog.list(accountId, filter, after, query.limit + 1);
    const data = found.slice(0, query.limit).map(shown);
    const hasMore = found.length > query.limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list' as const, data, has_more: hasMore, next_cursor: next } };
  },
});

export const requests = httpModule({ name: 'requests', routes: [listRequestLogsRoute] });
