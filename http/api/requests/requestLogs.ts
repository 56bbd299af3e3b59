// The route that lists an account's API requests for its dashboard (rule D3).

import type { LoggedRequest } from '../../../application/ports/requestLog.ts';
import { PREFIX, parsePrefixedId, type RequestLogId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../kernel/errors.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching, wholeNumber } from '../../kernel/query.ts';
import { json, route } from '../../kernel/route.ts';
import { DASHBOARD } from '../access/login.ts';

const loggedRequestSchema = s.exactly({
  id: s.id(PREFIX.requestLog),
  request_id: s.described('The `X-Request-Id` that the client sent, or the generated one.', s.string()),
  method: s.string(),
  path: s.described('The path without the query string, truncated to 256 characters.', s.string()),
  status: s.anyInteger,
  duration_ms: s.anyInteger,
  key_fingerprint: s.described(
    'The fingerprint of the API key; null for a user of the dashboard.',
    s.orNull(s.string()),
  ),
  created_at: s.timestamp,
});

const requestLogsSchema = s.exactly({
  object: s.constant('list'),
  data: s.listOf(loggedRequestSchema),
  has_more: s.boolean,
  next_cursor: s.orNull(s.id(PREFIX.requestLog)),
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

/** Every status that this service returns; 303 and 304 come from the dashboard. */
const STATUSES = [...new Set([200, 201, 202, 204, 303, 304, ...Object.values(ERRORS).map(({ status }) => status)])];

/** Returns the statuses that `404` or `4xx` stands for, or undefined if the text is neither. */
export const statusesOf = (text: string): readonly number[] | undefined => {
  if (/^[1-5]xx$/.test(text)) return STATUSES.filter((status) => String(status)[0] === text[0]);
  return /^[1-5]\d\d$/.test(text) ? [Number(text)] : undefined;
};

const NO_CURSOR = reject('invalid_cursor', 'starting_after is not the id of one of your requests.', {
  param: 'starting_after',
});

const listRequestLogsRoute = route('GET', '/v1/request-logs', {
  operationId: 'listRequestLogs',
  summary: 'List API requests',
  description:
    'Returns the requests that keys and users of the account made in the last 30 days, in both modes, newest first. Use the filters to find a failed request.',
  tag: DASHBOARD,
  principal: 'session',
  query: {
    limit: wholeNumber('The maximum number of requests to return.', 1, 100, 25),
    starting_after: matching(
      'The `next_cursor` of the previous page.',
      'a log_ id',
      (text) => parsePrefixedId<RequestLogId>(text, PREFIX.requestLog) ?? undefined,
      'invalid_cursor',
    ),
    status: matching(
      'Only requests with this response status, such as 404, or of this class, such as 4xx.',
      'a status like 404, or 4xx',
      statusesOf,
    ),
    key: matching('Only requests made with the key of this fingerprint.', '16 hexadecimal digits', (text) =>
      /^[0-9a-f]{16}$/.test(text) ? text : undefined,
    ),
  },
  refusesUnknownQuery: true,
  responses: { 200: json('A page of requests.', requestLogsSchema) },
  handle: async ({ caller, query, services: { requestLog } }) => {
    const { accountId } = caller.tenant;
    const cursor = query.starting_after;
    const after = cursor === undefined ? null : await requestLog.find(accountId, cursor);
    if (cursor !== undefined && after === null) return NO_CURSOR;
    const filter = { statuses: query.status ?? null, keyFingerprint: query.key ?? null };
    // One extra row shows whether there is a next page.
    const found = await requestLog.list(accountId, filter, after, query.limit + 1);
    const data = found.slice(0, query.limit).map(shown);
    const hasMore = found.length > query.limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list' as const, data, has_more: hasMore, next_cursor: next } };
  },
});

export const requests = httpModule({ name: 'requests', routes: [listRequestLogsRoute] });
