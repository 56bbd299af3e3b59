// POST /v1/sandbox/payouts/{id}/confirm and /fail (rule Y6): the bank decides a payout that it works on, and notifies the gateway.

import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { NO_PAYOUT } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { SandboxPayoutBank } from '../ports/payoutRail.ts';

/** `early`: the bank hasn't got it yet. */
type SandboxPayoutDecision = 'decided' | 'early' | Rejection;

export interface DecideSandboxPayoutNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly payoutBank: SandboxPayoutBank;
}

/**
 * `failure`: why it can't be paid; null: it is paid, with `late` even after it had failed. Decided so before: `decided`; decided otherwise,
 * or the payout awaits an approval or ended without the bank: `invalid_request`.
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
    return status === wanted ? 'decided' : reject('invalid_request', `The bank already ${TOLD[status]} this payout.`);
  };

const TOLD = { confirmed: 'paid', refused: 'rejected' } as const;
