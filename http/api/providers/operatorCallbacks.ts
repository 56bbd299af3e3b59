// Routes by which operators list the callbacks of a connection, and resolve the waiting ones.

import {
  CALLBACK_OUTCOMES,
  isCallbackId,
  type ListedCallback,
  OPEN_OUTCOMES,
} from '../../../application/ports/providerCallbacks.ts';
import { OPEN_WORK_READS } from '../../../application/ports/readModels/providers.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { oneOf } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, ok, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, total, upToThousand } from '../ops/operatorRoutes.ts';
import { connectionParam } from './operatorConnections.ts';

const callbackParam = {
  description: 'The number of the callback.',
  schema: { type: 'string' },
  parse: (text: string) => (isCallbackId(text) ? text : reject('not_found', 'There is no such callback.')),
} as const;

const callbackSchema = s.exactly({
  id: s.string(),
  connectionId: s.id(PROVIDER_CONNECTION.idPrefix),
  receivedAt: s.timestamp,
  lastReceivedAt: s.described('When the same body last arrived.', s.timestamp),
  times: s.described('How often the same body arrived.', s.anyInteger),
  outcome: s.described('What came of it; null until it is handled.', s.orNull(s.oneOfTexts(CALLBACK_OUTCOMES))),
  findings: s.listOf(
    s.exactly({
      outcome: s.oneOfTexts(OPEN_OUTCOMES),
      reference: s.described('The end-to-end id, or the id of a sent payment.', s.string()),
      txid: s.orNull(s.string()),
      because: s.described('The reason, such as `no_txid`, `unknown_txid`, `other_txid` or `not_found`.', s.string()),
    }),
  ),
  resolvedAt: s.orNull(s.timestamp),
  resolvedBy: s.orNull(s.string()),
  resolvedReason: s.orNull(s.string()),
});
const callbackView = ({ connectionId, resolved, ...callback }: ListedCallback) => ({
  ...callback,
  connectionId: PROVIDER_CONNECTION.idPrefix + connectionId,
  resolvedAt: resolved?.at ?? null,
  resolvedBy: resolved?.by ?? null,
  resolvedReason: resolved?.reason ?? null,
});

const LISTED = [
  'Returns callbacks of a connection, newest first: those that wait for an operator, or those with one outcome.',
  '`unmatched`: the institution’s record belongs to no charge, payout or refund of the connection.',
  '`notConfirmed`: the institution knows no such payment.',
  '`contradicted`: the institution’s record names another charge, which was credited.',
  '`notUnderstood`: the body could not be read.',
].join(' ');

const listRoute = route('GET', '/ops/v1/providers/{id}/callbacks', {
  operationId: 'listProviderCallbacks',
  summary: 'List callbacks of a provider connection',
  description: LISTED,
  ...FOR_OPERATORS,
  params: connectionParam,
  reads: OPEN_WORK_READS,
  query: {
    limit: upToThousand,
    outcome: oneOf('Only callbacks with this outcome, resolved ones included.', CALLBACK_OUTCOMES),
  },
  refusesUnknownQuery: true,
  responses: { 200: json('The callbacks.', s.exactly({ data: s.listOf(callbackSchema), total })) },
  handle: async ({ params, query, services: { platform } }) => {
    const connection = await platform.showConnection(params.id);
    if (isRejection(connection)) return connection;
    const filter = { connectionId: params.id, outcome: query.outcome ?? null };
    const found = await platform.listCallbacks(filter, query.limit);
    return { status: 200, body: { data: found.callbacks.map(callbackView), total: found.total } };
  },
});

const REASON_MAX = 500;

const resolveRoute = route('POST', '/ops/v1/providers/{id}/callbacks/{callback}/resolve', {
  operationId: 'resolveProviderCallback',
  summary: 'Resolve a callback of a provider connection',
  description: 'Records that an operator has looked into a callback. It no longer waits, and moves no money.',
  ...FOR_OPERATORS,
  params: { ...connectionParam, callback: callbackParam },
  body: jsonBody({
    schema: s.exactly({
      reason: s.described(
        'What the operator found, for the records.',
        s.string(REASON_MAX, { minLength: 1, pattern: '\\S' }),
      ),
    }),
  }),
  responses: { 200: json('The callback.', callbackSchema) },
  handle: async (context) => {
    const { params, body, services } = context;
    const { actor } = actorOf(context);
    return ok(await services.platform.resolveCallback(params.id, params.callback, actor, body.reason), callbackView);
  },
});

export const OPERATOR_CALLBACK_ROUTES: readonly Route[] = [listRoute, resolveRoute];
