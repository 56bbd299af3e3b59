// Routes for the failed webhook deliveries of all accounts, for operators of the platform (rule O1).

import type { Static } from 'typebox';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import { NO_ACCOUNT } from '../accounts/operatorAccounts.ts';
import { FOR_OPERATORS, ofAccount, total, upToThousand } from '../ops/operatorRoutes.ts';
import { FILTER_CODES, filterOf, filterProblems } from './deliveries.ts';
import { redriveBody } from './deliverySchema.ts';

const deadLetterSchema = s.exactly({
  id: s.id(WEBHOOK_DELIVERY.idPrefix),
  accountId: s.id(ACCOUNT.idPrefix),
  mode: s.mode,
  paymentId: s.described('null if the message is not about a payment.', s.orNull(s.id(PAYMENT.idPrefix))),
  eventType: s.string(),
  endpointId: s.described(
    'The endpoint of the delivery; null for the `webhookUrl` of a payment.',
    s.orNull(s.id(WEBHOOK_ENDPOINT.idPrefix)),
  ),
  createdAt: s.string(),
});

const listDeadLettersRoute = route('GET', '/ops/v1/dlq', {
  operationId: 'listDeadLetters',
  summary: 'List failed deliveries',
  description: 'Returns webhook deliveries that failed permanently, by account and mode, oldest first.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand, accountId: ofAccount },
  refusesUnknownQuery: true,
  reads: ['webhookDeliveries'],
  responses: {
    200: json('The deliveries.', s.exactly({ data: s.listOf(deadLetterSchema), total })),
  },
  handle: async ({ query, services: { platform } }) => {
    const { deliveries, total: all } = await platform.listDeadLetters(query.accountId ?? null, query.limit);
    return { status: 200, body: { data: deliveries, total: all } };
  },
});

const { status: _, ...filter } = redriveBody.properties;
const redriveAllBody = s.accepting({
  ...filter,
  accountId: s.optional(
    s.described('Only deliveries of this account. Default: deliveries of all accounts.', s.id(ACCOUNT.idPrefix)),
  ),
});
type RedriveAll = Frozen<Static<typeof redriveAllBody>>;

const redriveDeadLettersRoute = route('POST', '/ops/v1/dlq/redrive', {
  operationId: 'redriveDeadLetters',
  summary: 'Retry failed deliveries',
  description:
    'Queues a retry of the permanently failed webhook deliveries of all accounts, or of those that match the filters. With `dryRun`, it only counts them.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: redriveAllBody,
    codes: FILTER_CODES,
    refine: (body): readonly CodedProblem[] => filterProblems({ ...body, status: 'FAILED' }),
  }),
  responses: {
    202: json(
      'The number of matching deliveries, and how many are sent. Deliveries to inactive or deleted endpoints are not sent.',
      s.exactly({ matched: s.anyInteger, queued: s.anyInteger }),
    ),
  },
  errors: ['not_found'],
  handle: async (context) => {
    const { services } = context;
    const body: RedriveAll = context.body;
    const of = body.accountId === undefined ? null : parsePrefixedId<AccountId>(body.accountId, ACCOUNT.idPrefix);
    if (of !== null && (await services.platform.findAccount(of)) === null) return NO_ACCOUNT;
    let [matched, queued] = [0, 0];
    for (const tenant of await services.platform.tenantsWithDeadLetters(of)) {
      const wanted = { tenant, filter: filterOf({ ...body, status: 'FAILED' }), isDryRun: body.dryRun === true };
      const asked = await services.askRedrive({ ...wanted, ...actorOf(context) });
      matched += asked.matched;
      queued += asked.queued;
    }
    return { status: 202, body: { matched, queued } };
  },
});

export const OPERATOR_DEAD_LETTER_ROUTES: readonly Route[] = [listDeadLettersRoute, redriveDeadLettersRoute];
