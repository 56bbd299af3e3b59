// Routes by which operators review the payouts of all accounts that await approval (rules Y5, O1).
import type { ListedPayout } from '../../../application/ports/readModels/payouts.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, ok, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, ofAccount, total, upToThousand } from '../ops/operatorRoutes.ts';
import { payoutSchema, rejectPayoutBody } from './payoutSchema.ts';
import { payoutParam } from './payouts.ts';

const schema = s.exactly({
  accountId: s.id(ACCOUNT.idPrefix),
  mode: s.mode,
  payout: s.described('The payout, as the merchant sees it.', payoutSchema),
});
const shown = ({ tenant, payout }: ListedPayout) => ({
  accountId: ACCOUNT.idPrefix + tenant.accountId,
  mode: tenant.mode,
  payout,
});

const listRoute = route('GET', '/ops/v1/payouts', {
  operationId: 'listPayoutReviews',
  summary: 'List payouts that await approval',
  description: 'Returns the payouts that await approval, oldest first, of all accounts or of one.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand, accountId: ofAccount },
  refusesUnknownQuery: true,
  reads: ['payouts'],
  responses: { 200: json('The payouts.', s.exactly({ data: s.listOf(schema), total })) },
  handle: async ({ query, services: { platform } }) => {
    const { payouts, total: all } = await platform.listPayouts(query.accountId ?? null, query.limit);
    return { status: 200, body: { data: payouts.map(shown), total: all } };
  },
});

const ONE = {
  params: payoutParam,
  ...FOR_OPERATORS,
  responses: { 200: json('The payout.', schema) },
} as const;

const showRoute = route('GET', '/ops/v1/payouts/{id}', {
  ...ONE,
  operationId: 'showPayout',
  summary: 'Retrieve a payout of any account',
  description:
    'Returns a requested payout of any account in any status. The Pix transfers of cash-out refunds are not included.',
  handle: async ({ params, services: { platform } }) => {
    const found = await platform.showPayout(params.id);
    return isRejection(found) ? found : { status: 200, body: shown(found) };
  },
});

const REVIEW = {
  ...ONE,
  errors: ['role_required', 'payout_not_awaiting_approval'],
} as const;

const approveRoute = route('POST', '/ops/v1/payouts/{id}/approve', {
  ...REVIEW,
  operationId: 'approvePayoutReview',
  summary: 'Approve a payout of any account',
  description:
    'Approves a payout for an account that has no other user who can approve it. An operator who issued the API key that requested the payout can’t approve it.',
  handle: async (context) => {
    const { params, caller, services } = context;
    const by = { ...actorOf(context), userId: caller.userId };
    return ok(await services.platform.reviewPayoutOfAny(params.id, { verdict: 'approved' }, by), shown);
  },
});

const rejectRoute = route('POST', '/ops/v1/payouts/{id}/reject', {
  ...REVIEW,
  operationId: 'rejectPayoutReview',
  summary: 'Reject a payout of any account',
  description:
    'Rejects a payout that awaits approval. The payout fails with `failure_reason` `rejected`. The amount and the fee return to the wallet.',
  body: jsonBody({ schema: rejectPayoutBody }),
  handle: async (context) => {
    const { params, body, caller, services } = context;
    const by = { ...actorOf(context), userId: caller.userId };
    const verdict = { verdict: 'rejected', reason: body.reason ?? null } as const;
    return ok(await services.platform.reviewPayoutOfAny(params.id, verdict, by), shown);
  },
});

export const OPERATOR_PAYOUT_ROUTES: readonly Route[] = [listRoute, showRoute, approveRoute, rejectRoute];
