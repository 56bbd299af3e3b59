// Dispute cases that wait for an operator of the platform, over all accounts (rules Q3, O1).

import { CASE_WAITS_BECAUSE } from '../../../application/ports/readModels/cases.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import { CASE_STATUSES, MONEY_OUTCOMES, NEVER_BECAUSE } from '../../../domain/dispute/medCase.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { AMOUNT_MAX, AMOUNT_MIN, toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import {
  anyInteger,
  boolean,
  constantTrue,
  described,
  exactly,
  id,
  integer,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';
import { actorOf, jsonBody, type Route, route } from '../../kernel/route.ts';
import { isBadString } from '../../kernel/validation.ts';
import { total, upToThousand } from '../ops/paging.ts';
import { FOR_OPERATORS } from '../ops/tags.ts';
import { oneOfTextsOrNull } from './caseSchema.ts';
import { caseParam } from './cases.ts';

const status = oneOfTexts(CASE_STATUSES);

const waitingSchema = exactly({
  caseId: id(MED_CASE.idPrefix),
  providerCaseId: described('The bank’s id.', string()),
  chargeId: id(PREFIX.charge),
  accountId: id(ACCOUNT.idPrefix),
  mode: oneOfTexts(['test', 'live']),
  status: described('Null: the report opened no case.', oneOfTextsOrNull(CASE_STATUSES)),
  amount: described('As it was reported, in minor units.', anyInteger),
  currency: string(),
  because: described(
    '`review`: an outcome is to be reviewed. `amount_mismatch`: the reported amount matches neither the charge nor its refundable rest. ' +
      '`report_not_taken`: the report can never open a case. `report_contradicts`: the bank reported something else after the end.',
    oneOfTexts(CASE_WAITS_BECAUSE),
  ),
  reason: described('Why the report can never open a case; otherwise null.', oneOfTextsOrNull(NEVER_BECAUSE)),
  result: described('What was ruled; null: nothing was.', oneOfTextsOrNull(['agreed', 'disagreed', 'withdrawn'])),
  returned: described('Whether the money comes back to the merchant, as the bank says.', orNull(boolean)),
  returnedToPayer: described('How much the payer got, where the bank says so.', orNull(anyInteger)),
  since: string(),
});

const listCaseReviewsRoute = route({
  method: 'GET',
  path: '/ops/v1/med/review',
  operationId: 'listCaseReviews',
  summary: 'Dispute cases that wait for an operator, oldest first',
  description: 'Returns the dispute cases whose outcomes wait for an operator.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  reads: ['disputes'],
  responses: {
    200: {
      kind: 'json',
      description: 'The cases, and how many there are in all.',
      schema: exactly({ data: listOf(waitingSchema), total }),
    },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => {
    const { waiting, total: all } = await platform.listCaseReviews(query.limit);
    return { status: 200, body: { data: waiting, total: all } };
  },
});

const DECIDED = {
  200: {
    kind: 'json',
    description: 'How the case is now.',
    schema: exactly({
      caseId: id(MED_CASE.idPrefix),
      status,
      moneyOutcome: described('Null while the case goes on.', oneOfTextsOrNull(MONEY_OUTCOMES)),
    }),
  },
} as const;

const reviewRoute = (verdict: 'approve' | 'reject', summary: string, description: string): Route =>
  route({
    method: 'POST',
    path: `/ops/v1/med/review/{id}/${verdict}`,
    operationId: `${verdict}CaseReview`,
    params: caseParam,
    summary,
    description,
    ...FOR_OPERATORS,
    responses: DECIDED,
    errors: ['not_found', 'case_not_open'],
    handle: async (context) => {
      const { params, services } = context;
      const done = await services.platform.reviewCase(params.id, verdict === 'approve', actorOf(context));
      return isRejection(done) ? done : { status: 200, body: done };
    },
  });

const REASON_MAX = 500;
const reason = described('Why, for the records.', string(REASON_MAX, { minLength: 1, pattern: '\\S' }));
const amountOf = (what: string) =>
  optional(integer(AMOUNT_MIN, AMOUNT_MAX, `${what}, in minor units: at most the refundable rest of the charge.`));

const NOT_ONE = reject('invalid_request', 'Exactly one of held, lost and nothing is needed.');

const settleRoute = route({
  method: 'POST',
  path: '/ops/v1/med/cases/{id}/settle',
  operationId: 'settleCase',
  params: caseParam,
  summary: 'Settle a dispute case whose reported amount does not match: hold, take or leave the money',
  description:
    'Settles a case whose reported amount differs from the charge: holds an amount, books it as lost, or moves nothing.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: exactly({
      held: amountOf('What is held until the case ends'),
      lost: amountOf('What is taken at once'),
      nothing: optional(described('The merchant keeps the money.', constantTrue)),
      reason,
    }),
    codes: { held: 'invalid_amount', lost: 'invalid_amount' },
  }),
  responses: DECIDED,
  errors: ['not_found', 'case_not_open', 'invalid_amount'],
  handle: async (context) => {
    const { params, body, services } = context;
    const { held, lost, nothing } = body;
    if ([held, lost, nothing].filter((one) => one !== undefined).length !== 1) return NOT_ONE;
    const verdict = held !== undefined ? 'held' : lost !== undefined ? 'lost' : 'nothing';
    const settling = { verdict, amount: toMinor(held ?? lost ?? 0) } as const;
    const done = await services.platform.settleCase(params.id, settling, body.reason, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const dismissRoute = route({
  method: 'POST',
  path: '/ops/v1/med/cases/{id}/dismiss',
  operationId: 'dismissCaseReport',
  params: {
    id: {
      description: 'The `med_` id of the case, or the bank’s id of it.',
      schema: { type: 'string' },
      parse: (text: string) => (isBadString(text) ? NO_CASE : text),
    },
  },
  summary: 'Take a dispute report off the list: one that can never open a case, or that contradicts the end of one',
  description: 'Takes a report of the bank off the review list. The report stays recorded.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: exactly({ reason }) }),
  reads: ['disputes'],
  responses: { 200: { kind: 'json', description: 'The case.', schema: exactly({ caseId: id(MED_CASE.idPrefix) }) } },
  errors: ['not_found', 'case_not_open'],
  handle: async (context) => {
    const { params, body, services } = context;
    const done = await services.platform.dismissReport(params.id, body.reason, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

export const OPERATOR_CASE_ROUTES: readonly Route[] = [
  listCaseReviewsRoute,
  reviewRoute(
    'approve',
    'Let the outcome of a dispute case count',
    'Approves the outcome of a dispute case. The money moves accordingly.',
  ),
  reviewRoute(
    'reject',
    'Refuse the outcome of a dispute case: it goes on as it was',
    'Rejects the outcome of a dispute case. The case continues as before.',
  ),
  settleRoute,
  dismissRoute,
];
