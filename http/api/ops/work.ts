// What waits for an operator of the platform, over all accounts: held money, webhooks that were given up, work that failed (rule O1).

import type { Static } from 'typebox';
import { heldSettlementOf } from '../../../application/payments/heldSettlement.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type AccountId, type PaymentId, PREFIX, parseId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import { actorOf, type Frozen, jsonBody, route } from '../../kernel/route.ts';
import { redriveBody } from '../webhooks/deliverySchema.ts';
import { FILTER_CODES, filterOf, filterProblems } from '../webhooks/retries.ts';
import { NO_ACCOUNT } from './accounts.ts';
import { ofAccount, total, upToThousand } from './paging.ts';
import { PLATFORM } from './tags.ts';

const mode = oneOfTexts(['test', 'live']);

const heldSchema = exactly({
  paymentId: id(PAYMENT.idPrefix),
  accountId: id(ACCOUNT.idPrefix),
  mode,
  amount: described('Minor units.', anyInteger),
  currency: string(),
  providerPaymentId: described(
    'Of a Pix its end-to-end id; of a late confirmation the id of its return, Pix-out or refund.',
    string(),
  ),
  payerName: orNull(string()),
  expectedPayerTaxId: orNull(string()),
  reason: described(
    '`no_payer_document`: it may be credited. `confirmed_late`: the provider paid what it had refused. Else why it was not credited.',
    string(),
  ),
  returnRefused: described('What the provider said when it was to go back; null: it was not asked.', orNull(string())),
  heldSince: string(),
});

const listHeldRoute = route({
  method: 'GET',
  path: '/ops/v1/held',
  operationId: 'listHeld',
  summary: 'Pix held for review, refused when sent back, or confirmed after a refusal, longest held first',
  tag: PLATFORM,
  principal: 'operator',
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  reads: ['payments'],
  responses: {
    200: {
      kind: 'json',
      description: 'What is held, and of how many payments in all.',
      schema: exactly({ data: listOf(heldSchema), total }),
    },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => {
    const { held, total: all } = await platform.listHeld(query.limit);
    return { status: 200, body: { data: held, total: all } };
  },
});

export const NO_PAYMENT = reject('not_found', 'There is no such payment.');
export const paymentParam = {
  id: {
    description: 'A `tx_` or `ch_` id, or a raw one.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix) ?? NO_PAYMENT,
  },
} as const;

const reviewedSchema = exactly({ paymentId: id(PAYMENT.idPrefix), status: string(), isNew: boolean });
const REVIEWED = {
  200: {
    kind: 'json',
    description: 'How the payment is now, and whether it had not been decided so before.',
    schema: reviewedSchema,
  },
} as const;

const releaseHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/release',
  operationId: 'releaseHeld',
  params: paymentParam,
  summary: 'Let a held Pix pass: it is credited, and the payment is paid',
  tag: PLATFORM,
  principal: 'operator',
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const done = await context.services.platform.reviewHeld(context.params.id, 'release', actorOf(context), null);
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const returnHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/return',
  operationId: 'returnHeld',
  params: paymentParam,
  summary: 'Send a held Pix back to its payer, or ask again where the bank refused; refunded once it has accepted',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({
    schema: accepting({
      providerPaymentId: optional(described('This one alone, when several of the payment are held.', string(64))),
    }),
  }),
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const { params, body, services } = context;
    const pix = body.providerPaymentId ?? null;
    const done = await services.platform.reviewHeld(params.id, 'return', actorOf(context), pix);
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const settleHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/settle',
  operationId: 'settleHeld',
  params: paymentParam,
  summary: 'Pay out or write off money whose return the bank refuses for good',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({
    schema: exactly({
      pixOut: optional(described('Pix key to pay it out to; the platform bears the fee.', string(77))),
      writtenOff: optional(described('`true`: it goes to the platform’s account.', boolean)),
      reason: string(500),
      providerPaymentId: optional(described('This one alone, when several of the payment wait.', string(64))),
    }),
  }),
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const { params, body, services } = context;
    const settlement = heldSettlementOf(body);
    if (isRejection(settlement)) return settlement;
    const done = await services.platform.reviewHeld(
      params.id,
      settlement,
      actorOf(context),
      body.providerPaymentId ?? null,
    );
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const deadLetterSchema = exactly({
  id: id(WEBHOOK_DELIVERY.idPrefix),
  accountId: id(ACCOUNT.idPrefix),
  mode,
  paymentId: id(PAYMENT.idPrefix),
  eventType: string(),
  endpointId: described('null: to the payment’s own `webhookUrl`.', orNull(id(WEBHOOK_ENDPOINT.idPrefix))),
  createdAt: string(),
});

const listDeadLettersRoute = route({
  method: 'GET',
  path: '/ops/v1/dlq',
  operationId: 'listDeadLetters',
  summary: 'Deliveries given up after their last attempt, by account and mode, oldest first',
  tag: PLATFORM,
  principal: 'operator',
  query: { limit: upToThousand, accountId: ofAccount },
  refusesUnknownQuery: true,
  reads: ['webhookDeliveries'],
  responses: {
    200: {
      kind: 'json',
      description: 'The deliveries.',
      schema: exactly({ data: listOf(deadLetterSchema), total }),
    },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => {
    const { deliveries, total: all } = await platform.listDeadLetters(query.accountId ?? null, query.limit);
    return { status: 200, body: { data: deliveries, total: all } };
  },
});

const { status: _, ...filter } = redriveBody.properties;
const redriveAllBody = accepting({
  ...filter,
  accountId: optional(described('Of this account alone. Default: of every one.', id(ACCOUNT.idPrefix))),
});
type RedriveAll = Frozen<Static<typeof redriveAllBody>>;

const redriveDeadLettersRoute = route({
  method: 'POST',
  path: '/ops/v1/dlq/redrive',
  operationId: 'redriveDeadLetters',
  summary: 'Have deliveries sent again that were given up, of every account or those that fit; a job sends them',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({
    schema: redriveAllBody,
    codes: FILTER_CODES,
    refine: (body): readonly CodedProblem[] => filterProblems({ ...body, status: 'FAILED' }),
  }),
  responses: {
    202: {
      kind: 'json',
      description: 'How many fit, and how many are sent: to inactive and deleted endpoints none.',
      schema: exactly({ matched: anyInteger, queued: anyInteger }),
    },
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

const queueText = described('The name of a queue.', string(100));
const jobSchema = exactly({
  id: string(),
  queue: string(),
  state: described('`failed`: for good; `retry`: another attempt follows by itself.', oneOfTexts(['failed', 'retry'])),
  accountId: string(),
  mode,
  attempts: anyInteger,
  error: string(),
  failedAt: string(),
  nextAttemptAt: orNull(string()),
});

const listFailedJobsRoute = route({
  method: 'GET',
  path: '/ops/v1/jobs',
  operationId: 'listFailedJobs',
  summary: 'Work that failed, for good (kept 30 days) or until its next attempt',
  tag: PLATFORM,
  principal: 'operator',
  query: {
    limit: upToThousand,
    queue: matching('Of this queue alone.', 'the name of a queue', (text) => text || undefined),
  },
  refusesUnknownQuery: true,
  responses: {
    200: { kind: 'json', description: 'The jobs.', schema: exactly({ data: listOf(jobSchema), total }) },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => {
    const { jobs, total: all } = await platform.listFailedJobs(query.queue ?? null, query.limit);
    return { status: 200, body: { data: jobs, total: all } };
  },
});

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const WHICH = reject('invalid_request', 'Say which: id, queue, or all: true.', { param: 'id' });

const redriveJobsRoute = route({
  method: 'POST',
  path: '/ops/v1/jobs/redrive',
  operationId: 'redriveJobs',
  summary: 'Begin work that failed for good again, at once: one job, a queue, or all; what is done already stays',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({
    schema: accepting({
      id: optional(described('One job.', string(36, { pattern: UUID }))),
      queue: optional(queueText),
      all: optional(described('true: all of every queue.', boolean)),
    }),
  }),
  responses: {
    200: {
      kind: 'json',
      description: 'The jobs that begin again, and how many pieces of work each has.',
      schema: exactly({ data: listOf(exactly({ id: string(), queue: string(), payloads: anyInteger })) }),
    },
  },
  errors: ['not_found'],
  handle: async ({ body, services: { platform } }) => {
    const { id: jobId = null, queue = null, all = false } = body;
    if ([jobId !== null, queue !== null, all].filter(Boolean).length !== 1) return WHICH;
    const jobs = await platform.redriveJobs({ id: jobId, queue });
    if (jobId !== null && jobs.length === 0) return reject('not_found', 'No such job has failed for good.');
    const data = jobs.map((job) => ({ id: job.id, queue: job.queue, payloads: job.payloads.length }));
    return { status: 200, body: { data } };
  },
});

export const OPS_WORK_ROUTES = [
  listHeldRoute,
  releaseHeldRoute,
  returnHeldRoute,
  settleHeldRoute,
  listDeadLettersRoute,
  redriveDeadLettersRoute,
  listFailedJobsRoute,
  redriveJobsRoute,
];
