// Sandbox routes that simulate the bank's decision on a payout (rule Y6).

import { isRejection } from '../../../domain/kernel/rejection.ts';
import { NO_PAYOUT } from '../../../domain/payout/decisions.ts';
import { jsonBody, type KeyContext, type Route, route } from '../../kernel/route.ts';
import { bankFailsBody, bankPaysBody } from '../sandbox/sandboxSchema.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/tags.ts';
import { payoutSchema } from './payoutSchema.ts';
import { payoutParam } from './payouts.ts';

/** The longest wait for running work before each attempt to decide. */
const AT_REST_MS = 250;
const DEFAULT_FAILURE = 'The sandbox bank could not pay the payout.';

/** Confirms the payout if `failure` is null. Waits until a payout just requested has reached the bank. */
const decide = async (
  { caller: { tenant }, params: { id }, services }: KeyContext<typeof payoutParam>,
  failure: string | null,
  late = false,
) => {
  const wanted = failure === null ? 'paid' : 'failed';
  let isDecided = false;
  const look = async () => {
    if (!isDecided) {
      await services.whenIdle(tenant.accountId, AT_REST_MS);
      const done = await services.decideSandboxPayout(tenant, id, failure, late);
      if (isRejection(done)) return done;
      if (done === 'early') return null;
      isDecided = true;
    }
    const payout = await services.views.payouts.find(tenant, id);
    return payout?.status === wanted ? payout : null;
  };
  const seen = await services.untilSeen(VISIBLE_MS, look);
  if (isRejection(seen)) return seen;
  if (seen !== null) return { status: 200 as const, body: seen };
  const current = await services.views.payouts.find(tenant, id);
  return current === null ? NO_PAYOUT : { status: 202 as const, body: current };
};

const deciding = {
  method: 'POST',
  ...IN_SANDBOX,
  params: payoutParam,
  responses: {
    200: { kind: 'json', description: 'The paid or failed payout.', schema: payoutSchema },
    202: {
      kind: 'json',
      description: 'The payout as reads show it after 5 seconds. Processing continues.',
      schema: payoutSchema,
    },
  },
  errors: ['not_found', 'invalid_request'],
} as const;

export const SANDBOX_PAYOUT_ROUTES: readonly Route[] = [
  route({
    ...deciding,
    path: '/v1/sandbox/payouts/{id}/confirm',
    operationId: 'sandboxConfirmPayout',
    summary: 'Simulate the payment of a payout',
    description: 'Simulates the bank’s payment of a payout. Use it when `auto_confirm_payouts` is switched off.',
    body: jsonBody({ schema: bankPaysBody }),
    handle: (context) => decide(context, null, context.body.late),
  }),
  route({
    ...deciding,
    path: '/v1/sandbox/payouts/{id}/fail',
    operationId: 'sandboxFailPayout',
    summary: 'Simulate the failure of a payout',
    description: 'Simulates a bank that rejects a payout. The amount and the fee return to the wallet.',
    body: jsonBody({ schema: bankFailsBody }),
    handle: (context) => decide(context, context.body.reason ?? DEFAULT_FAILURE),
  }),
];
