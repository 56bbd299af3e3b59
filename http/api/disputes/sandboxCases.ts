// The sandbox: what payers' banks and the platform do about dispute cases (rule X4).

import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { BookedDispute, SandboxDispute, SandboxRuling } from '../../../application/sandbox/disputeInSandbox.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import type { MedCase } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { medCaseView } from '../../../domain/presentation/medCase.ts';
import { either } from '../../kernel/jsonSchema.ts';
import { instantOf } from '../../kernel/query.ts';
import { jsonBody, type KeyContext, type Route, route } from '../../kernel/route.ts';
import { assertFollowed, assertShownCase } from '../../kernel/upToDate.ts';
import { chargeParam } from '../payments/charges.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/tags.ts';
import { medCaseSchema } from './caseSchema.ts';
import { answer, caseParam } from './cases.ts';
import { decideCaseBody, medBody, owedSchema, reviewBody } from './sandboxSchema.ts';

const OVERTAKEN = reject('charge_not_disputable', 'Something else came first: this charge can’t be disputed now.');

/** Returns the case once reads of it, of its charge and of the wallet show what `isThere` looks for; null when they do not in time. */
const untilShown = (
  { services, caller: { tenant } }: KeyContext,
  caseId: MedCaseId,
  isThere: (medCase: MedCase) => boolean,
): Promise<MedCase | null> =>
  services.untilSeen(VISIBLE_MS, async () => {
    const found = await services.views.cases.find(tenant, caseId);
    if (found === null || !isThere(found)) return null;
    const payment = await services.views.payments.find(tenant, found.terms.paymentId);
    const dispute = payment?.transaction.status === 'settled' ? payment.transaction.dispute : null;
    const isTold = dispute !== null && (dispute.caseId !== caseId || isUpTo(found, dispute));
    return isTold ? found : null;
  });

const isUpTo = (
  { moneyOutcome }: MedCase,
  told: { readonly revision: number; readonly moneyOutcome: MedCase['moneyOutcome'] },
): boolean => told.revision >= 0 && (moneyOutcome === null || told.moneyOutcome !== null);

const sandboxMedRoute = route({
  method: 'POST',
  path: '/v1/sandbox/charges/{id}/med',
  operationId: 'sandboxOpenMedCase',
  summary: 'The payer’s bank opens a dispute',
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
    201: { kind: 'json', description: 'The case, as reads show it.', schema: medCaseSchema },
    202: {
      kind: 'json',
      description:
        'The same, when not all of it shows in the reads within 5 s. With `owed`: the bank’s id of the case.',
      schema: either(medCaseSchema, owedSchema),
    },
  },
  errors: ['not_found', 'charge_not_disputable'],
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

/** What became of a dispute that the bank booked. One that is refused here never opens a case (Q10). */
const disputed = async (context: KeyContext, { caseId, paymentId, isNew }: BookedDispute) => {
  const { services, caller } = context;
  const look = (isLast: boolean) => services.disputeTaken(caller.tenant, { caseId, paymentId, isNew }, isLast);
  const taken = await services.untilSeen(VISIBLE_MS, async () => {
    const state = await look(false);
    return state === 'pending' ? null : state;
  });
  if ((taken ?? (await look(true))) === 'refused') return OVERTAKEN;
  const shown = await untilShown(context, caseId, () => true);
  if (shown !== null) return { status: 201 as const, body: medCaseView(shown) };
  const sofar = await services.views.cases.find(caller.tenant, caseId);
  if (sofar === null) throw new ReadModelsBehind('the case is not shown yet');
  return { status: 202 as const, body: medCaseView(sofar) };
};

const onCase = {
  method: 'POST',
  ...IN_SANDBOX,
  params: caseParam,
  responses: {
    200: { kind: 'json', description: 'The case after it.', schema: medCaseSchema },
    202: {
      kind: 'json',
      description: 'The same, when not all of it shows in the reads within 5 s.',
      schema: medCaseSchema,
    },
  },
} as const;

const sandboxRequestEvidenceRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/request-evidence',
  operationId: 'sandboxRequestEvidence',
  summary: 'The platform asks the merchant for evidence',
  description: 'Simulates a request for evidence. The case shows the time in `evidence_requested_at`.',
  errors: ['not_found', 'case_not_open'],
  handle: (context) => answer(context, { kind: 'requestEvidence' }),
});

/** A report that is being taken up when something else ends the case is told so: there is one winner. */
const rule = async (context: KeyContext<typeof caseParam>, ruling: SandboxRuling) => {
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
  const sofar = await services.views.cases.find(caller.tenant, params.id);
  return sofar === null ? NO_CASE : { status: 202 as const, body: medCaseView(sofar) };
};

const sandboxDecideRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/decide',
  operationId: 'sandboxDecideMedCase',
  summary: 'The payer’s bank decides: agreed is lost, disagreed is won',
  description:
    'Simulates the decision of the payer’s bank. With `review`, the outcome waits for an approval and changes nothing until then.',
  responses: {
    ...onCase.responses,
    202: {
      kind: 'json',
      description:
        'The same, when not all of it shows in the reads within 5 s. With `owed`: the bank’s id of the case.',
      schema: either(medCaseSchema, owedSchema),
    },
  },
  body: jsonBody({
    schema: decideCaseBody,
    codes: { returned_to_payer: 'invalid_amount' },
    refine: ({ result, returned_to_payer: got }) =>
      got !== undefined && result !== 'agreed'
        ? [{ code: 'invalid_amount', param: 'returned_to_payer', message: 'goes with the result agreed only' }]
        : [],
  }),
  errors: ['not_found', 'invalid_amount', 'case_not_open', 'case_under_review'],
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

const sandboxWithdrawRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/withdraw',
  operationId: 'sandboxWithdrawMedCase',
  summary: 'The payer withdraws the dispute',
  description: 'Simulates a payer who withdraws the dispute. The retained amount becomes available again.',
  errors: ['not_found', 'case_not_open', 'case_under_review'],
  handle: (context) => rule(context, { kind: 'withdraw' }),
});

const sandboxReviewRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/review',
  operationId: 'sandboxReviewMedCase',
  summary: 'An operator lets an outcome under review count, or not',
  description: 'Approves or rejects an outcome that waits for review, as an operator of the platform would.',
  body: jsonBody({ schema: reviewBody }),
  errors: ['not_found', 'case_not_open'],
  handle: (context) => answer(context, { kind: 'review', approve: context.body.approve }),
});

export const SANDBOX_CASE_ROUTES: readonly Route[] = [
  sandboxMedRoute,
  sandboxRequestEvidenceRoute,
  sandboxDecideRoute,
  sandboxWithdrawRoute,
  sandboxReviewRoute,
];
