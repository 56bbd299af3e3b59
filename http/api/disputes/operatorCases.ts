// Routes for the dispute cases of all accounts that wait for an operator of the platform (rules Q3, O1).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import { CASE_STATUSES, MONEY_OUTCOMES, NEVER_BECAUSE } from '../../../domain/dispute/medCase.ts';
import { CASE_WAITS_BECAUSE } from '../../../domain/dispute/waiting.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { AMOUNT_MAX, AMOUNT_MIN, toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, ok, pathParam, type Route, route } from '../../kernel/route.ts';
import { isBadString } from '../../kernel/validation.ts';
import { FOR_OPERATORS, total, upToThousand } from '../ops/operatorRoutes.ts';
import { oneOfTextsOrNull } from './caseSchema.ts';
import { caseParam } from './cases.ts';

const status = s.oneOfTexts(CASE_STATUSES);

const waitingSchema = s.exactly({
  caseId: s.id(MED_CASE.idPrefix),
  providerCaseId: s.described('The bank’s id of the case.', s.string()),
  chargeId: s.id(PREFIX.charge),
  accountId: s.id(ACCOUNT.idPrefix),
  mode: s.mode,
  status: s.described('The status of the case; null if the report opened no case.', oneOfTextsOrNull(CASE_STATUSES)),
  amount: s.described('The reported amount, in minor units.', s.anyInteger),
  currency: s.string(),
  because: s.described(
    'Why the case waits. `review`: an outcome awaits review. `amount_mismatch`: the reported amount matches neither the charge nor its ' +
      'remaining refundable amount. `report_not_taken`: the report can never open a case. `report_contradicts`: a report contradicts the ' +
      'outcome of an ended case.',
    s.oneOfTexts(CASE_WAITS_BECAUSE),
  ),
  reason: s.described('Why the report can never open a case; null otherwise.', oneOfTextsOrNull(NEVER_BECAUSE)),
  result: s.described('The reported decision; null if absent.', oneOfTextsOrNull(['agreed', 'disagreed', 'withdrawn'])),
  returned: s.described('Whether the money returns to the merchant, according to the bank.', s.orNull(s.boolean)),
  returnedToPayer: s.described('The amount that the payer received, if the bank reported it.', s.orNull(s.anyInteger)),
  since: s.string(),
});

const listCaseReviewsRoute = route('GET', '/ops/v1/med/review', {
  operationId: 'listCaseReviews',
  summary: 'List dispute cases that wait for an operator',
  description: 'Returns the dispute cases and reports that wait for an operator, oldest first.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  reads: ['disputes'],
  responses: {
    200: json('The cases and their total number.', s.exactly({ data: s.listOf(waitingSchema), total })),
  },
  handle: async ({ query, services: { platform } }) => {
    const { waiting, total: all } = await platform.listCaseReviews(query.limit);
    return { status: 200, body: { data: waiting, total: all } };
  },
});

const reviewedSchema = s.exactly({
  caseId: s.id(MED_CASE.idPrefix),
  status,
  moneyOutcome: s.described(
    'What happened to the disputed amount; null while the case continues.',
    oneOfTextsOrNull(MONEY_OUTCOMES),
  ),
});
const DECIDED = { 200: json('The case after the decision.', reviewedSchema) } as const;

const reviewRoute = (verdict: 'approve' | 'reject', summary: string, description: string): Route =>
  route('POST', `/ops/v1/med/review/{id}/${verdict}`, {
    operationId: `${verdict}CaseReview`,
    params: caseParam,
    summary,
    description,
    ...FOR_OPERATORS,
    responses: DECIDED,
    errors: ['case_not_open'],
    handle: async (context) =>
      ok(await context.services.platform.reviewCase(context.params.id, verdict === 'approve', actorOf(context))),
  });

const REASON_MAX = 500;
const reason = s.described(
  'The reason for the decision, for the records.',
  s.string(REASON_MAX, { minLength: 1, pattern: '\\S' }),
);
const amountOf = (what: string) =>
  s.optional(
    s.integer(
      AMOUNT_MIN,
      AMOUNT_MAX,
      `${what}, in minor units. At most the remaining refundable amount of the charge.`,
    ),
  );

const NOT_ONE = reject('invalid_request', 'Send exactly one of held, lost and nothing.');

const openRoute = route('POST', '/ops/v1/med/cases', {
  operationId: 'openCase',
  summary: 'Open a dispute case by hand',
  description:
    'Opens a dispute case of a live charge whose provider reports no disputes, and holds the money. The merchant answers it as any other case.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.exactly({
      chargeId: s.described('The disputed charge.', s.string()),
      amount: s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The disputed amount, in minor units.'),
      reason,
    }),
    codes: { amount: 'invalid_amount' },
  }),
  responses: { 201: json('The new case.', reviewedSchema) },
  errors: ['not_found', 'mode_not_allowed', 'charge_not_disputable', 'invalid_amount', 'service_unavailable'],
  handle: async (context) => {
    const { chargeId, amount, reason: why } = context.body;
    const payment = parseId<PaymentId>(chargeId, PREFIX.charge, PAYMENT.idPrefix);
    if (payment === null) return NO_PAYMENT;
    const opening = { amount: toMinor(amount), reason: why };
    const done = await context.services.platform.openCase(payment, opening, actorOf(context));
    return isRejection(done) ? done : { status: 201, body: done };
  },
});

const ruleRoute = route('POST', '/ops/v1/med/cases/{id}/rule', {
  operationId: 'ruleCase',
  params: caseParam,
  summary: 'Rule a dispute case by hand',
  description: 'Records how the banks decided a case whose provider reports no disputes. The money moves accordingly.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.exactly({
      result: s.described('`agreed`: the payer won.', s.oneOfTexts(['agreed', 'disagreed'])),
      returnedToPayer: s.optional(
        s.integer(0, AMOUNT_MAX, 'The amount that the payer got, with `agreed` only. The whole hold if omitted.'),
      ),
    }),
    codes: { returnedToPayer: 'invalid_amount' },
  }),
  responses: DECIDED,
  errors: ['mode_not_allowed', 'invalid_amount', 'case_not_open', 'case_under_review', 'service_unavailable'],
  handle: async (context) => {
    const { params, body, services } = context;
    const { result, returnedToPayer } = body;
    const ruling = { result, returnedToPayer: returnedToPayer === undefined ? null : toMinor(returnedToPayer) };
    return ok(await services.platform.ruleCase(params.id, ruling, actorOf(context)));
  },
});

const settleRoute = route('POST', '/ops/v1/med/cases/{id}/settle', {
  operationId: 'settleCase',
  params: caseParam,
  summary: 'Settle a dispute case with a mismatched amount',
  description:
    'Settles a case whose reported amount differs from the charge: holds an amount, books it as lost, or moves nothing.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.exactly({
      held: amountOf('The amount to hold until the case ends'),
      lost: amountOf('The amount to book as lost immediately'),
      nothing: s.optional(s.described('The merchant keeps the money.', s.constantTrue)),
      reason,
    }),
    codes: { held: 'invalid_amount', lost: 'invalid_amount' },
  }),
  responses: DECIDED,
  errors: ['case_not_open', 'invalid_amount'],
  handle: async (context) => {
    const { params, body, services } = context;
    const { held, lost, nothing } = body;
    if ([held, lost, nothing].filter((one) => one !== undefined).length !== 1) return NOT_ONE;
    const verdict = held !== undefined ? 'held' : lost !== undefined ? 'lost' : 'nothing';
    const settling = { verdict, amount: toMinor(held ?? lost ?? 0) } as const;
    return ok(await services.platform.settleCase(params.id, settling, body.reason, actorOf(context)));
  },
});

const dismissRoute = route('POST', '/ops/v1/med/cases/{id}/dismiss', {
  operationId: 'dismissCaseReport',
  params: {
    id: pathParam('The `med_` id of the case, or the bank’s id.', (text) => (isBadString(text) ? NO_CASE : text)),
  },
  summary: 'Dismiss a dispute report',
  description:
    'Removes a bank’s report from the review list if it can never open a case or contradicts the outcome of an ended one. The report stays recorded.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.exactly({ reason }) }),
  reads: ['disputes'],
  responses: { 200: json('The case.', s.exactly({ caseId: s.id(MED_CASE.idPrefix) })) },
  errors: ['case_not_open'],
  handle: async (context) =>
    ok(await context.services.platform.dismissReport(context.params.id, context.body.reason, actorOf(context))),
});

export const OPERATOR_CASE_ROUTES: readonly Route[] = [
  listCaseReviewsRoute,
  reviewRoute(
    'approve',
    'Approve the outcome of a dispute case',
    'Approves the outcome of a dispute case. The money moves accordingly.',
  ),
  reviewRoute(
    'reject',
    'Reject the outcome of a dispute case',
    'Rejects the outcome of a dispute case. The case continues as before.',
  ),
  openRoute,
  ruleRoute,
  settleRoute,
  dismissRoute,
];
