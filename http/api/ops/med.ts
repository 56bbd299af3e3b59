// Dispute cases that wait for an operator of the platform, over all accounts (rules Q3, O1).
import { CASE_STATUSES, MONEY_OUTCOMES } from '../../../domain/dispute/medCase.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import {
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';
import { actorOf, type Route, route } from '../../kernel/route.ts';
import { oneOfTextsOrNull } from '../disputes/caseSchema.ts';
import { caseParam } from '../disputes/cases.ts';
import { total, upToThousand } from './paging.ts';

const status = oneOfTexts(CASE_STATUSES);

const waitingSchema = exactly({
  caseId: id(PREFIX.medCase),
  chargeId: id(PREFIX.charge),
  accountId: id(PREFIX.account),
  mode: oneOfTexts(['test', 'live']),
  status,
  amount: described('As it was reported, in minor units.', anyInteger),
  currency: string(),
  because: described(
    '`review`: an outcome is to be reviewed. `amount_mismatch`: the reported amount is not the charge’s.',
    oneOfTexts(['review', 'amount_mismatch']),
  ),
  result: described('What was ruled; null: nothing is to be reviewed.', oneOfTextsOrNull(['agreed', 'disagreed'])),
  returned: described('Whether the money comes back to the merchant, as the bank says.', orNull(boolean)),
  since: string(),
});

const listCaseReviewsRoute = route({
  method: 'GET',
  path: '/ops/v1/med/review',
  operationId: 'listCaseReviews',
  summary: 'Dispute cases that wait for an operator, oldest first',
  tag: 'Platform',
  principal: 'operator',
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

const reviewRoute = (verdict: 'approve' | 'reject', summary: string): Route =>
  route({
    method: 'POST',
    path: `/ops/v1/med/review/{id}/${verdict}`,
    operationId: `${verdict}CaseReview`,
    params: caseParam,
    summary,
    tag: 'Platform',
    principal: 'operator',
    responses: {
      200: {
        kind: 'json',
        description: 'How the case is now.',
        schema: exactly({
          caseId: id(PREFIX.medCase),
          status,
          moneyOutcome: described('Null while the case goes on.', oneOfTextsOrNull(MONEY_OUTCOMES)),
        }),
      },
    },
    errors: ['not_found', 'case_not_open'],
    handle: async (context) => {
      const { params, services } = context;
      const done = await services.platform.reviewCase(params.id, verdict === 'approve', actorOf(context));
      return isRejection(done) ? done : { status: 200, body: done };
    },
  });

export const OPS_MED_ROUTES: readonly Route[] = [
  listCaseReviewsRoute,
  reviewRoute('approve', 'Let the outcome of a dispute case count'),
  reviewRoute('reject', 'Refuse the outcome of a dispute case: it goes on as it was'),
];
