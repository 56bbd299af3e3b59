// POST /v1/sandbox/payouts/{id}/confirm and /fail (rule Y6): the sandbox bank decides a payout and notifies the gateway.

import type { Tenant } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { NO_PAYOUT } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { SandboxPayoutBank } from '../ports/payoutRail.ts';

/** `early`: the payout was not submitted to the bank yet. */
type SandboxPayoutDecision = 'decided' | 'early' | Rejection;

export interface DecideSandboxPayoutNeeds extends UseCaseNeeds {
  readonly payoutBank: SandboxPayoutBank;
}

/**
 * Has the sandbox bank pay or reject a payout. `failure`: why the bank rejects it; null: the bank pays it. `late`: the bank pays it even
 * if it rejected it before. Returns `decided` also if the same decision was made before. Rejects with `invalid_request` if the bank
 * decided otherwise, or if the payout awaits approval, was rejected or was cancelled.
 */
export const decideSandboxPayout =
  ({ commands, accounts, payoutBank }: DecideSandboxPayoutNeeds) =>
  async (tenant: Tenant, id: PayoutId, failure: string | null, late = false): Promise<SandboxPayoutDecision> => {
    const { state } = await commands.load(PAYOUT, PAYOUT.stream(id));
    if (state.status === 'absent') return NO_PAYOUT;
    const { accountId, mode } = state.terms;
    if (accountId !== tenant.accountId || mode !== tenant.mode) return NO_PAYOUT;
    if (state.status === 'awaitingApproval' || state.status === 'rejected' || state.status === 'cancelled')
      return reject('invalid_request', 'The bank does not have this payout.');
    const status = await payoutBank.decide(tenant, id, failure, await accounts.now(accountId, mode), late);
    if (status === null) return 'early';
    const wanted = failure === null ? 'confirmed' : 'refused';
    return status === wanted ? 'decided' : reject('invalid_request', `The bank already ${VERBS[status]} this payout.`);
  };

const VERBS = { confirmed: 'paid', refused: 'rejected' } as const;
