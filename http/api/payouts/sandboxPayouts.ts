// Sandbox routes that simulate the bank's decision on a payout (rule Y6).

import { NO_PAYOUT } from '../../../domain/payout/decisions.ts';
import { json, jsonBody, type KeyContext, type Route, route } from '../../kernel/route.ts';
import { decideAtBank } from '../sandbox/bankDecision.ts';
import { bankFailsBody, bankPaysBody, IN_SANDBOX } from '../sandbox/sandboxSchema.ts';
import { payoutSchema } from './payoutSchema.ts';
import { payoutParam } from './payouts.ts';

export const DEFAULT_FAILURE = 'The sandbox bank could not pay the payout.';

/** Confirms the payout if `failure` is null. Waits until a payout just requested has reached the bank. */
export const decidePayout = (
  context: Pick<KeyContext<typeof payoutParam>, 'caller' | 'params' | 'services'>,
  failure: string | null,
  late = false,
) => {
  const { caller, params, services } = context;
  return decideAtBank(context, {
    decide: async () => {
      const done = await services.decideSandboxPayout(caller.tenant, params.id, failure, late);
      return done === 'early' ? null : done;
    },
    find: () => services.views.payouts.find(caller.tenant, params.id),
    isShown: ({ status }) => status === (failure === null ? 'paid' : 'failed'),
    missing: NO_PAYOUT,
  });
};

const deciding = {
  ...IN_SANDBOX,
  params: payoutParam,
  responses: {
    200: json('The paid or failed payout.', payoutSchema),
    202: json('The payout as reads show it after 5 seconds. Processing continues.', payoutSchema),
  },
  errors: ['invalid_request'],
} as const;

export const SANDBOX_PAYOUT_ROUTES: readonly Route[] = [
  route('POST', '/v1/sandbox/payouts/{id}/confirm', {
    ...deciding,
    operationId: 'sandboxConfirmPayout',
    summary: 'Simulate the payment of a payout',
    description: 'Simulates the bank’s payment of a payout. Use it when `auto_confirm_payouts` is switched off.',
    body: jsonBody({ schema: bankPaysBody }),
    handle: (context) => decidePayout(context, null, context.body.late),
  }),
  route('POST', '/v1/sandbox/payouts/{id}/fail', {
    ...deciding,
    operationId: 'sandboxFailPayout',
    summary: 'Simulate the failure of a payout',
    description: 'Simulates a bank that rejects a payout. The amount and the fee return to the wallet.',
    body: jsonBody({ schema: bankFailsBody }),
    handle: (context) => decidePayout(context, context.body.reason ?? DEFAULT_FAILURE),
  }),
];
