// Operators' use cases for payouts: list those awaiting approval, show one, approve or reject one (rules Y5, O1).
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { NO_PAYOUT, type Review } from '../../domain/payout/decisions.ts';
import type { Payout, PayoutId } from '../../domain/payout/payout.ts';
import { requestedPayoutView } from '../../domain/payout/presentation.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { ListedPayout, PayoutReads } from '../ports/readModels/payouts.ts';
import { type AnyReviewer, reviewAnyPayout } from './changePayout.ts';

export interface OperatePayoutsNeeds extends UseCaseNeeds {
  readonly payouts: Pick<PayoutReads, 'awaitingApproval'>;
}

const listed = (payout: Payout): ListedPayout => {
  const { payoutId, accountId, mode } = payout.terms;
  return { tenant: { accountId, mode }, payoutId, payout: requestedPayoutView(payout) };
};

export const operatePayouts = (needs: OperatePayoutsNeeds) => ({
  /** Returns payouts awaiting approval, oldest first, and their total number. `accountId` null: those of all accounts. */
  listPayouts: (accountId: AccountId | null, limit: number) => needs.payouts.awaitingApproval(accountId, limit),
  /** Returns the payout, read from its stream. Rejects with `not_found`. */
  showPayout: async (id: PayoutId): Promise<ListedPayout | Rejection> => {
    const { state } = await needs.commands.load(PAYOUT, PAYOUT.stream(id));
    return state.status === 'absent' ? NO_PAYOUT : listed(state);
  },
  /** Approves or rejects a payout of any account. Rejects as `reviewAnyPayout` does. */
  reviewPayoutOfAny: async (id: PayoutId, verdict: Review, by: AnyReviewer): Promise<ListedPayout | Rejection> => {
    const done = await reviewAnyPayout(needs)(id, verdict, by);
    return isRejection(done) ? done : listed(done);
  },
});
