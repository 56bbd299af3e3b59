// The sandbox: what payers' banks and the platform do about dispute cases (rule X4).

import type { SandboxRuling } from '../../../application/sandbox/disputeInSandbox.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import type { MedCase } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { medCaseView } from '../../../domain/presentation/medCase.ts';
import { instantOf } from '../../kernel/isoDates.ts';
import { jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import { assertFollowed, assertShownCase } from '../../kernel/upToDate.ts';
import { medCaseSchema } from '../disputes/caseSchema.ts';
import { answer, caseParam } from '../disputes/cases.ts';
import { chargeParam } from '../payments/charges.ts';
import { decideCaseBody, medBody, noBody, reviewBody } from './sandboxSchema.ts';

const OVERTAKEN = reject('charge_not_disputable', 'Something else came first: nothing of this charge can be disputed.');

/** Longest wait for the effect; then 202, and the rest goes on (X). */
const VISIBLE_MS = 5_000;

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

export const sandboxMedRoute = route({
  method: 'POST',
  path: '/v1/sandbox/charges/{id}/med',
  operationId: 'sandboxOpenMedCase',
  summary: 'The payer’s bank opens a dispute',
  tag: 'Sandbox',
  principal: 'testKey',
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
      description: 'The same, when not all of it shows in the reads within 5 s.',
      schema: medCaseSchema,
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
    const done = await services.disputeInSandbox(caller.tenant, params.id, {
      amount: amount === undefined ? null : toMinor(amount),
      method,
      reason,
      responseDeadline: deadline === null ? 'unknown' : deadline === undefined ? null : (instantOf(deadline) ?? null),
      providerCaseId: named,
      payer: { name: body.payer?.name ?? null, document: body.payer?.document ?? null },
    });
    if (isRejection(done)) return done;
    const shown = await untilShown(context, done.caseId, () => true);
    if (shown !== null) return { status: 201, body: medCaseView(shown) };
    const sofar = await services.views.cases.find(caller.tenant, done.caseId);
    // Something else came first: the bank's dispute found nothing that it could hold.
    return sofar === null ? OVERTAKEN : { status: 202, body: medCaseView(sofar) };
  },
});

const onCase = {
  method: 'POST',
  tag: 'Sandbox',
  principal: 'testKey',
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

export const sandboxRequestEvidenceRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/request-evidence',
  operationId: 'sandboxRequestEvidence',
  summary: 'The platform asks the merchant for evidence',
  body: jsonBody({ schema: noBody }),
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

export const sandboxDecideRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/decide',
  operationId: 'sandboxDecideMedCase',
  summary: 'The payer’s bank decides: agreed is lost, disagreed is won',
  body: jsonBody({ schema: decideCaseBody }),
  errors: ['not_found', 'case_not_open', 'case_under_review'],
  handle: (context) => {
    const { result, returned = true, review = false } = context.body;
    return rule(context, { kind: 'decide', result, returned, review });
  },
});

export const sandboxWithdrawRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/withdraw',
  operationId: 'sandboxWithdrawMedCase',
  summary: 'The payer withdraws the dispute',
  body: jsonBody({ schema: noBody }),
  errors: ['not_found', 'case_not_open', 'case_under_review'],
  handle: (context) => rule(context, { kind: 'withdraw' }),
});

export const sandboxReviewRoute = route({
  ...onCase,
  path: '/v1/sandbox/med/cases/{id}/review',
  operationId: 'sandboxReviewMedCase',
  summary: 'An operator lets an outcome under review count, or not',
  body: jsonBody({ schema: reviewBody }),
  errors: ['not_found', 'case_not_open'],
  handle: (context) => answer(context, { kind: 'review', approve: context.body.approve }),
});
