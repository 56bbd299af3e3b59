// Cancels, approves and rejects payouts for merchants, their managers and operators (rules Y1, Y5). The executor carries it out.
import type { Decision } from '../../domain/kernel/decider.ts';
import type { AccountId, Tenant, UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import {
  cancelPayout as cancel,
  NO_PAYOUT,
  type Review,
  reviewPayout as review,
} from '../../domain/payout/decisions.ts';
import type { Payout, PayoutEvent, PayoutId, PayoutState } from '../../domain/payout/payout.ts';
import { type Actor, type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';

const change = async (
  { commands, accounts }: UseCaseNeeds,
  id: PayoutId,
  isOwn: (payout: Payout) => boolean,
  decide: (at: Timestamp) => Decision<PayoutState, PayoutEvent, string>,
  by: Changer,
): Promise<Payout | Rejection> => {
  const stream = PAYOUT.stream(id);
  const { state } = await commands.load(PAYOUT, stream);
  if (state.status === 'absent' || !isOwn(state)) return NO_PAYOUT;
  const { accountId, mode } = state.terms;
  const metadata = { ...metadataForChange(by, accountId, id), mode };
  const done = await commands.execute(PAYOUT, stream, decide(await accounts.now(accountId, mode)), metadata);
  return isRejection(done) ? done : (done.state as Payout);
};

/** Cancels a payout of the tenant. Rejects with `not_found` or `payout_not_cancellable`. */
export const cancelPayout =
  (needs: UseCaseNeeds) =>
  ({ accountId, mode }: Tenant, id: PayoutId, by: Actor): Promise<Payout | Rejection> =>
    change(needs, id, ({ terms }) => terms.accountId === accountId && terms.mode === mode, cancel, by);

/**
 * Approves or rejects a payout of the account, in either mode. Rejects with `not_found`, `role_required` or
 * `payout_not_awaiting_approval`.
 */
export const reviewPayout =
  (needs: UseCaseNeeds) =>
  (
    accountId: AccountId,
    id: PayoutId,
    verdict: Review,
    by: Actor & { readonly userId: UserId },
  ): Promise<Payout | Rejection> =>
    change(
      needs,
      id,
      ({ terms }) => terms.accountId === accountId,
      (at) => review(verdict, by, at),
      by,
    );

/** An operator of the platform. `userId`: null if the operator uses the command line. */
export type AnyReviewer = Changer & { readonly userId: UserId | null };

/**
 * Approves or rejects a payout of any account, for accounts without another reviewer. Rejects with `not_found`, `role_required` or
 * `payout_not_awaiting_approval`.
 */
export const reviewAnyPayout =
  (needs: UseCaseNeeds) =>
  (id: PayoutId, verdict: Review, by: AnyReviewer): Promise<Payout | Rejection> =>
    change(
      needs,
      id,
      () => true,
      (at) => review(verdict, by, at),
      by,
    );
