// POST /v1/sandbox/refunds/{id}/confirm and /fail (rule X3): the sandbox bank decides a refund and notifies the gateway.

import type { RefundId, Tenant } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';

export const NO_REFUND: Rejection = reject('not_found', 'There is no such refund.');

/** `absent`: no refund was opened with this id. `early`: the refund was not submitted to the bank yet. */
type SandboxRefundDecision = 'decided' | 'early' | 'absent' | Rejection;

/**
 * Has the sandbox bank pay or reject a refund. `failure`: why the bank rejects it; null: the bank pays it. `late`: the bank pays it even
 * if it rejected it before. Returns `decided` also if the same decision was made before. Rejects with `invalid_request` if the bank
 * decided otherwise.
 */
export const decideSandboxRefund =
  ({ commands, accounts, bank }: UseCaseNeeds & { readonly bank: SandboxBankPort }) =>
  async (tenant: Tenant, id: RefundId, failure: string | null, late = false): Promise<SandboxRefundDecision> => {
    const { state } = await commands.load(REFUND, REFUND.stream(id));
    if (state.status === 'absent') return 'absent';
    const { accountId, mode, paymentId } = state.order;
    if (accountId !== tenant.accountId || mode !== tenant.mode) return NO_REFUND;
    const at = await accounts.now(accountId, mode);
    const status = await bank.decideRefund(tenant, { paymentId, refundId: id }, failure, at, late);
    if (status === null) return 'early';
    const wanted = failure === null ? 'confirmed' : 'refused';
    return status === wanted ? 'decided' : reject('invalid_request', `The bank already ${VERBS[status]} this refund.`);
  };

const VERBS = { confirmed: 'paid', refused: 'rejected' } as const;
