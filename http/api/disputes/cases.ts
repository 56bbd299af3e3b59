// Routes of dispute cases (contract.md Dispute cases). The canonical path is /v1/med/cases; /v1/infractions is an alias.

import type { CaseAnswer } from '../../../application/disputes/answerCase.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import { CASE_STATUSES, CASE_TYPES } from '../../../domain/dispute/medCase.ts';
import { type MedCaseId, type PaymentId, PREFIX, parseId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { medCaseView } from '../../../domain/presentation/medCase.ts';
import { instantAfter, instantBefore, matching, oneOf, wholeNumber } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, type KeyContext, ok, pathParam, type Route, route } from '../../kernel/route.ts';
import { assertFollowed, assertShownCase } from '../../kernel/upToDate.ts';
import { appealBody, medCaseListSchema, medCaseSchema, ON_DISPUTES } from './caseSchema.ts';

/** The path parameter of a case. */
export const caseParam = {
  id: pathParam('The `med_` id of the case.', (text) => parsePrefixedId<MedCaseId>(text, MED_CASE.idPrefix) ?? NO_CASE),
};

/** Both paths serve the same routes, each as an operation of its own. */
const CANONICAL = {
  path: '/v1/med/cases',
  named: (operationId: string, summary: string, description: string) => ({ operationId, summary, description }),
} as const;
const ALIAS = {
  path: '/v1/infractions',
  named: (operationId: string, summary: string) => ({
    operationId: operationId.replace('MedCase', 'Infraction'),
    summary: `${summary} (alias)`,
    description: `An alias of \`${operationId}\` for integrations that use the older path. Requests and responses are identical.`,
  }),
} as const;
export type CasePaths = typeof CANONICAL | typeof ALIAS;

export const CASE_PATHS: readonly CasePaths[] = [CANONICAL, ALIAS];

const NO_CURSOR = reject('invalid_cursor', 'starting_after is not the id of one of your cases.', {
  param: 'starting_after',
});

const listRoute = ({ path, named }: CasePaths): Route =>
  route('GET', path, {
    ...named(
      'listMedCases',
      'List dispute cases',
      'Returns dispute cases, newest first. To read the next page, pass `next_cursor` as `starting_after`. Both date bounds are exclusive.',
    ),
    ...ON_DISPUTES,
    reads: ['disputes'],
    query: {
      limit: wholeNumber('The maximum number of cases to return.', 1, 100, 25),
      starting_after: matching(
        'The `next_cursor` of the previous page.',
        'a med_ id',
        (text) => parsePrefixedId<MedCaseId>(text, MED_CASE.idPrefix) ?? undefined,
        'invalid_cursor',
      ),
      status: oneOf('Only cases in this status.', CASE_STATUSES),
      type: oneOf('Only cases of this type.', CASE_TYPES),
      charge_id: matching(
        'Only cases about this charge.',
        'a ch_ id',
        (text) => parseId<PaymentId>(text, PREFIX.charge) ?? undefined,
      ),
      created_after: instantAfter('Only cases created after this time.'),
      created_before: instantBefore('Only cases created before this time.'),
    },
    refusesUnknownQuery: true,
    responses: { 200: json('A page of cases.', medCaseListSchema) },
    handle: async ({ caller, query, services }) => {
      const { limit, starting_after: after = null, status, type, charge_id: chargeId } = query;
      const { created_after: createdAfter, created_before: createdBefore } = query;
      const filter = {
        ...(status !== undefined && { status }),
        ...(type !== undefined && { type }),
        ...(chargeId !== undefined && { chargeId }),
        ...(createdAfter !== undefined && { createdAfter }),
        ...(createdBefore !== undefined && { createdBefore }),
      };
      const found = await services.views.cases.list(caller.tenant, filter, { after, limit });
      if (found === null) return NO_CURSOR;
      const data = found.cases.map(medCaseView);
      const next = found.hasMore ? (data.at(-1)?.id ?? null) : null;
      return { status: 200, body: { object: 'list' as const, data, has_more: found.hasMore, next_cursor: next } };
    },
  });

const getRoute = ({ path, named }: CasePaths): Route =>
  route('GET', `${path}/{id}`, {
    ...named(
      'getMedCase',
      'Retrieve a dispute case',
      'Returns one dispute case with its status, its deadline and what happened to the money.',
    ),
    ...ON_DISPUTES,
    params: caseParam,
    reads: ['disputes'],
    responses: { 200: json('The case.', medCaseSchema) },
    handle: async ({ caller, params: { id }, services }) => {
      assertShownCase({ services, caller }, id);
      const found = await services.views.cases.find(caller.tenant, id);
      return found === null ? NO_CASE : { status: 200, body: medCaseView(found) };
    },
  });

/** Applies a merchant's response or an act of the platform to a case, and returns the case. */
export const answer = async (context: KeyContext<typeof caseParam>, what: CaseAnswer) => {
  const { caller, params, services } = context;
  assertShownCase(context, params.id);
  const found = await services.views.cases.find(caller.tenant, params.id);
  if (found !== null) assertFollowed(context, found.terms.paymentId);
  return ok(await services.answerCase(caller.tenant, params.id, what, actorOf(context)), medCaseView);
};

const appealRoute = ({ path, named }: CasePaths): Route =>
  route('POST', `${path}/{id}/appeal`, {
    ...named(
      'appealMedCase',
      'Appeal a dispute',
      'Appeals an open case. The payer’s bank then decides. You can upload evidence before or after the appeal. The disputed amount stays retained.',
    ),
    ...ON_DISPUTES,
    params: caseParam,
    body: jsonBody({ schema: appealBody, codes: { reason: 'invalid_reason' } }),
    responses: { 200: json('The appealed case.', medCaseSchema) },
    errors: ['case_not_open'],
    handle: (context) => answer(context, { kind: 'appeal', reason: context.body.reason }),
  });

const acceptRoute = ({ path, named }: CasePaths): Route =>
  route('POST', `${path}/{id}/accept`, {
    ...named(
      'acceptMedCase',
      'Accept a dispute',
      'Accepts an open case. The retained amount is lost. This can’t be undone.',
    ),
    ...ON_DISPUTES,
    params: caseParam,
    responses: { 200: json('The accepted case. Its amount is lost.', medCaseSchema) },
    errors: ['case_not_open', 'case_under_review'],
    handle: (context) => answer(context, { kind: 'accept' }),
  });

export const MED_CASE_ROUTES: readonly Route[] = CASE_PATHS.flatMap((paths) => [
  listRoute(paths),
  getRoute(paths),
  appealRoute(paths),
  acceptRoute(paths),
]);
