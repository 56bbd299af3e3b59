// Sandbox routes that simulate payers' banks and the platform in dispute cases (rule X4).

import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { BookedDispute, SandboxDispute, SandboxRuling } from '../../../application/sandbox/disputeInSandbox.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import { DISPUTE_METHODS, type MedCase } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId } from '../../../domain/kernel/ids.ts';
import { AMOUNT_MAX, AMOUNT_MIN, toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { medCaseView } from '../../../domain/presentation/medCase.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { either } from '../../kernel/jsonSchema.ts';
import { instantOf } from '../../kernel/query.ts';
import { json, jsonBody, type KeyContext, type Route, route } from '../../kernel/route.ts';
import { assertFollowed, assertShownCase } from '../../kernel/upToDate.ts';
import { chargeParam } from '../payments/charges.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/sandboxSchema.ts';
import { medCaseSchema } from './caseSchema.ts';
import { answer, caseParam } from './cases.ts';

const medBody = s.accepting({
  amount: s.optional(
    s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount that the bank reports. Default: the amount of the charge.'),
  ),
  method: s.optional(
    s.described('What happened, according to the payer. Default: other.', s.oneOfTexts(DISPUTE_METHODS)),
  ),
  reason: s.optional(s.described('The alleged reason.', s.string(500))),
  response_deadline: s.optional(
    s.orNull(
      s.described('An ISO 8601 date-time; null for an unknown deadline. Default: 3 days from now.', s.string(40)),
    ),
  ),
  owed: s.optional(
    s.described('Report without a check that the charge can be disputed now, as a bank would. Returns 202.', s.boolean),
  ),
  provider_case_id: s.optional(
    s.described(
      'The bank’s own id of the case. A repeat with the same id returns the same case.',
      s.string(64, { minLength: 1 }),
    ),
  ),
  payer: s.optional(
    s.described(
      'The payer who opened the dispute.',
      s.accepting({
        name: s.optional(s.orNull(s.described('Name of the payer.', s.string(200)))),
        document: s.optional(s.orNull(s.described('The document that the bank reports.', s.string(32)))),
      }),
    ),
  ),
});
const decideCaseBody = s.accepting({
  result: s.described(
    '`agreed`: the payer is right and the case is lost. `disagreed`: the case is won.',
    s.oneOfTexts(['agreed', 'disagreed']),
  ),
  returned: s.optional(
    s.described('Whether the money returns to the merchant. Applies to `disagreed` only. Default: true.', s.boolean),
  ),
  returned_to_payer: s.optional(
    s.integer(
      0,
      AMOUNT_MAX,
      'The amount that the payer receives, at most the amount of the charge. Requires `agreed`. Default: the whole retained amount.',
    ),
  ),
  review: s.optional(s.described('Whether an operator must approve the outcome first. Default: false.', s.boolean)),
  owed: s.optional(
    s.described(
      'Report even if the case has ended, as a bank might. Returns 202 without waiting for the effect.',
      s.boolean,
    ),
  ),
});
/** The response to a report with `owed`. */
const owedSchema = s.exactly({ provider_case_id: s.described('The bank’s own id of the case.', s.string()) });
const reviewBody = s.accepting({ approve: s.described('Whether to approve the outcome.', s.boolean) });

const NOT_TAKEN = reject(
  'charge_not_disputable',
  'The dispute opened no case: the charge changed in the meantime, or no worker handled the dispute within 5 seconds.',
);

/** Returns the case once the reads of the case and its charge reflect `isExpected`, or null if they don't within VISIBLE_MS. */
const untilShown = (
  { services, caller: { tenant } }: KeyContext,
  caseId: MedCaseId,
  isExpected: (medCase: MedCase) => boolean,
): Promise<MedCase | null> =>
  services.untilSeen(VISIBLE_MS, async () => {
    const found = await services.views.cases.find(tenant, caseId);
    if (found === null || !isExpected(found)) return null;
    const payment = await services.views.payments.find(tenant, found.terms.paymentId);
    const dispute = payment?.transaction.status === 'settled' ? payment.transaction.dispute : null;
    const isReflected = dispute !== null && (dispute.caseId !== caseId || isUpToDate(found, dispute));
    return isReflected ? found : null;
  });

const isUpToDate = (
  { moneyOutcome }: MedCase,
  shown: { readonly revision: number; readonly moneyOutcome: MedCase['moneyOutcome'] },
): boolean => shown.revision >= 0 && (moneyOutcome === null || shown.moneyOutcome !== null);

const sandboxMedRoute = route('POST', '/v1/sandbox/charges/{id}/med', {
  operationId: 'sandboxOpenMedCase',
  summary: 'Simulate a new dispute',
  description: 'Simulates a dispute by the payer’s bank about a paid charge. It opens a dispute case.',
  ...IN_SANDBOX,
  params: chargeParam,
  body: jsonBody({
    schema: medBody,
    codes: { amount: 'invalid_amount', reason: 'invalid_reason' },
    refine: ({ response_deadline: text }) =>
      typeof text === 'string' && instantOf(text) === undefined
        ? [{ code: 'invalid_request', param: 'response_deadline', message: 'must be an ISO 8601 date-time' }]
        : [],
  }),
  responses: {
    201: json('The new case.', medCaseSchema),
    202: json(
      'The case, if its effects are not fully visible within 5 seconds. With `owed`: the bank’s id of the case.',
      either(medCaseSchema, owedSchema),
    ),
  },
  errors: ['charge_not_disputable', 'change_limit_reached'],
  handle: async (context) => {
    const { caller, params, body, services } = context;
    assertFollowed(context, params.id as PaymentId);
    const {
      amount,
      method = 'other',
      reason = null,
      response_deadline: deadline,
      provider_case_id: named = null,
    } = body;
    const dispute: SandboxDispute = {
      amount: amount === undefined ? null : toMinor(amount),
      method,
      reason,
      responseDeadline: deadline === null ? 'unknown' : deadline === undefined ? null : (instantOf(deadline) ?? null),
      providerCaseId: named,
      payer: { name: body.payer?.name ?? null, document: body.payer?.document ?? null },
    };
    if (body.owed === true) {
      const owed = await services.reportDisputeInSandbox(caller.tenant, params.id, dispute);
      return isRejection(owed) ? owed : { status: 202, body: { provider_case_id: owed.providerCaseId } };
    }
    const done = await services.disputeInSandbox(caller.tenant, params.id, dispute);
    if (isRejection(done)) return done;
    return disputed(context, done);
  },
});

/** Waits for the outcome of a dispute that the bank booked. If it is refused here, it never opens a case (Q10). */
export const disputed = async (context: KeyContext, booked: BookedDispute) => {
  const { services, caller } = context;
  const { caseId } = booked;
  const look = (isLast: boolean) => services.disputeTaken(caller.tenant, booked, isLast);
  const taken = await services.untilSeen(VISIBLE_MS, async () => {
    const state = await look(false);
    return state === 'pending' ? null : state;
  });
  if ((taken ?? (await look(true))) === 'refused') return NOT_TAKEN;
  const shown = await untilShown(context, caseId, () => true);
  if (shown !== null) return { status: 201 as const, body: medCaseView(shown) };
  const current = await services.views.cases.find(caller.tenant, caseId);
  if (current === null) throw new ReadModelsBehind('the case is not visible yet');
  return { status: 202 as const, body: medCaseView(current) };
};

const onCase = {
  ...IN_SANDBOX,
  params: caseParam,
  responses: {
    200: json('The case after the change.', medCaseSchema),
    202: json('The case, if its effects are not fully visible within 5 seconds.', medCaseSchema),
  },
} as const;

const sandboxRequestEvidenceRoute = route('POST', '/v1/sandbox/med/cases/{id}/request-evidence', {
  ...onCase,
  operationId: 'sandboxRequestEvidence',
  summary: 'Simulate a request for evidence',
  description: 'Simulates a request for evidence by the platform. The case shows the time in `evidence_requested_at`.',
  errors: ['case_not_open', 'change_limit_reached'],
  handle: (context) => answer(context, { kind: 'requestEvidence' }),
});

/** Applies a ruling. If another event ends the case first, the ruling is rejected. */
export const rule = async (context: KeyContext<typeof caseParam>, ruling: SandboxRuling) => {
  const { caller, params, services } = context;
  assertShownCase(context, params.id);
  const done = await services.ruleInSandbox(caller.tenant, params.id, ruling);
  if (isRejection(done)) return done;
  const taken = await services.untilSeen(VISIBLE_MS, async () => {
    const state = await services.reportTaken(params.id, done.report);
    return state === 'pending' ? null : state;
  });
  if (isRejection(taken)) return taken;
  const shown = await untilShown(context, params.id, ({ reports }) => reports >= done.report);
  if (shown !== null) return { status: 200 as const, body: medCaseView(shown) };
  const current = await services.views.cases.find(caller.tenant, params.id);
  return current === null ? NO_CASE : { status: 202 as const, body: medCaseView(current) };
};

const sandboxDecideRoute = route('POST', '/v1/sandbox/med/cases/{id}/decide', {
  ...onCase,
  operationId: 'sandboxDecideMedCase',
  summary: 'Simulate the bank’s decision on a dispute',
  description:
    'Simulates the decision of the payer’s bank. With `agreed`, the merchant loses the case; with `disagreed`, the merchant wins it. With `review`, the outcome has no effect until it is approved.',
  responses: {
    ...onCase.responses,
    202: json(
      'The case, if its effects are not fully visible within 5 seconds. With `owed`: the bank’s id of the case.',
      either(medCaseSchema, owedSchema),
    ),
  },
  body: jsonBody({
    schema: decideCaseBody,
    codes: { returned_to_payer: 'invalid_amount' },
    refine: ({ result, returned_to_payer: got }) =>
      got !== undefined && result !== 'agreed'
        ? [{ code: 'invalid_amount', param: 'returned_to_payer', message: 'requires the result agreed' }]
        : [],
  }),
  errors: ['invalid_amount', 'case_not_open', 'case_under_review', 'change_limit_reached'],
  handle: async (context) => {
    const { result, returned = true, returned_to_payer: got, review = false, owed = false } = context.body;
    const returnedToPayer = got === undefined ? null : toMinor(got);
    const ruling = { kind: 'decide', result, returned, returnedToPayer, review, owed } as const;
    if (!owed) return rule(context, ruling);
    const { caller, params, services } = context;
    assertShownCase(context, params.id);
    const done = await services.ruleInSandbox(caller.tenant, params.id, ruling);
    return isRejection(done) ? done : { status: 202, body: { provider_case_id: done.providerCaseId } };
  },
});

const sandboxWithdrawRoute = route('POST', '/v1/sandbox/med/cases/{id}/withdraw', {
  ...onCase,
  operationId: 'sandboxWithdrawMedCase',
  summary: 'Simulate the withdrawal of a dispute',
  description: 'Simulates a payer who withdraws the dispute. The retained amount becomes available again.',
  errors: ['case_not_open', 'case_under_review', 'change_limit_reached'],
  handle: (context) => rule(context, { kind: 'withdraw' }),
});

const sandboxReviewRoute = route('POST', '/v1/sandbox/med/cases/{id}/review', {
  ...onCase,
  operationId: 'sandboxReviewMedCase',
  summary: 'Simulate the review of an outcome',
  description: 'Approves or rejects an outcome under review, as an operator of the platform would.',
  body: jsonBody({ schema: reviewBody }),
  errors: ['case_not_open'],
  handle: (context) => answer(context, { kind: 'review', approve: context.body.approve }),
});

export const SANDBOX_CASE_ROUTES: readonly Route[] = [
  sandboxMedRoute,
  sandboxRequestEvidenceRoute,
  sandboxDecideRoute,
  sandboxWithdrawRoute,
  sandboxReviewRoute,
];
