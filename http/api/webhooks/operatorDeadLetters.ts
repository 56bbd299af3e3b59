// Routes for the failed webhook deliveries of all accounts, for operators of the platform (rule O1).

import type { Static } from 'typebox';
import type { Actor } from '../../../application/core/eventMetadata.ts';
import { throwFirst } from '../../../application/ports/eachInTurn.ts';
import type { Redrive, RedriveProgress } from '../../../application/ports/redrives.ts';
import { ACCOUNT, NO_ACCOUNT } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
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
export type RedriveAll = Frozen<Static<typeof redriveAllBody>>;

const problemsOf = (body: RedriveAll): readonly CodedProblem[] => filterProblems({ ...body, status: 'FAILED' });
/** Returns whether the filters other than the account are valid. */
export const isWebhookFilter = (body: RedriveAll): boolean => problemsOf(body).length === 0;

/** Accounts processed at once. After an outage there may be thousands of them; other requests need connections, too. */
const AT_ONCE = 8;

/**
 * Retries, or with `dryRun` counts, the failed deliveries of all accounts that match. Rejects with `not_found` for an unknown account.
 * Throws the first error at the end: the other accounts' deliveries are retried.
 */
export const redriveAll = async (
  services: AppServices,
  body: RedriveAll,
  actor: Actor,
): Promise<{ readonly matched: number; readonly queued: number } | Rejection> => {
  const of = body.accountId === undefined ? null : parsePrefixedId<AccountId>(body.accountId, ACCOUNT.idPrefix);
  if (of !== null && (await services.platform.findAccount(of)) === null) return NO_ACCOUNT;
  const wanted = { filter: filterOf({ ...body, status: 'FAILED' }), isDryRun: body.dryRun === true, ...actor };
  const tenants = await services.platform.tenantsWithDeadLetters(of);
  let [matched, queued] = [0, 0];
  const errors: unknown[] = [];
  for (let n = 0; n < tenants.length; n += AT_ONCE) {
    const some = tenants.slice(n, n + AT_ONCE);
    for (const asked of await Promise.allSettled(some.map((tenant) => services.askRedrive({ tenant, ...wanted })))) {
      if (asked.status === 'rejected') {
        errors.push(asked.reason);
        continue;
      }
      matched += asked.value.matched;
      queued += asked.value.queued;
    }
  }
  throwFirst(errors);
  return { matched, queued };
};

const redriveView = ({ tenant, askedAt, actor, queued, requested }: Redrive & RedriveProgress) => ({
  accountId: ACCOUNT.idPrefix + tenant.accountId,
  mode: tenant.mode,
  ...{ askedAt, queued, by: actor, sent: requested },
});

const listRedrivesRoute = route('GET', '/ops/v1/dlq/redrives', {
  operationId: 'listRedrives',
  summary: 'List running redrives',
  description: 'Returns the redrives that still queue retries, oldest first, with their progress.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  responses: {
    200: json(
      'The redrives.',
      s.exactly({
        data: s.listOf(
          s.exactly({
            accountId: s.id(ACCOUNT.idPrefix),
            mode: s.mode,
            askedAt: s.described('When it was requested, in account time.', s.timestamp),
            by: s.described('Who requested it.', s.string()),
            queued: s.described('Deliveries to send when it was requested.', s.anyInteger),
            sent: s.described('Deliveries queued for a retry so far.', s.anyInteger),
          }),
        ),
      }),
    ),
  },
  handle: async ({ query, services }) => {
    const running = await services.runningRedrives(query.limit);
    return { status: 200, body: { data: running.map(redriveView) } };
  },
});

const redriveDeadLettersRoute = route('POST', '/ops/v1/dlq/redrive', {
  operationId: 'redriveDeadLetters',
  summary: 'Retry failed deliveries',
  description:
    'Queues a retry of the permanently failed webhook deliveries of all accounts, or of those that match the filters. With `dryRun`, it only counts them.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: redriveAllBody,
    codes: FILTER_CODES,
    refine: problemsOf,
  }),
  responses: {
    202: json(
      'The number of matching deliveries, and how many are sent. Deliveries to inactive or deleted endpoints are not sent.',
      s.exactly({ matched: s.anyInteger, queued: s.anyInteger }),
    ),
  },
  errors: ['not_found'],
  handle: async (context) => {
    const done = await redriveAll(context.services, context.body, actorOf(context));
    return isRejection(done) ? done : { status: 202, body: done };
  },
});

export const OPERATOR_DEAD_LETTER_ROUTES: readonly Route[] = [
  listDeadLettersRoute,
  listRedrivesRoute,
  redriveDeadLettersRoute,
];
