// Applies an operator's decision on held money (rules M5, M10): release, return, pay out or write off. Processes carry it out.

import type { Decision } from '../../domain/kernel/decider.ts';
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { releaseHeld, returnHeld } from '../../domain/payment/held.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import type { SettlementTerms } from '../../domain/payment/settle.ts';
import { type SettleHeld, settleHeld } from '../../domain/payment/settleHeld.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { heldPayoutIdOf, returnIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { NO_PAYMENT } from './ownPayment.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

export type HeldVerdict = 'release' | 'return' | Pick<SettleHeld, 'pixOut' | 'reason'>;
interface HeldReview {
  readonly payment: ExistingPayment;
  /** False: the same decision was made before. */
  readonly isNew: boolean;
}

interface Case {
  readonly id: PaymentId;
  readonly accountId: AccountId;
  readonly providerPaymentId: string | null;
  readonly settings: SettlementTerms;
  readonly by: string;
  readonly at: Timestamp;
}

const decisionOf = (
  verdict: HeldVerdict,
  { id, accountId, providerPaymentId, settings, by, at }: Case,
): Decision<PaymentState, PaymentEvent, string> => {
  if (verdict === 'release') return releaseHeld(settings, by, at);
  if (verdict === 'return')
    return returnHeld({ returnIdOf: (pix, refusals) => returnIdOf(id, pix, refusals), providerPaymentId, by }, at);
  const payoutIdOf = (pix: string, refusals: number) => heldPayoutIdOf(accountId, id, pix, refusals);
  return settleHeld({ ...verdict, id: providerPaymentId, payoutIdOf, by }, at);
};

/**
 * Records an operator's verdict on held money. Repeating a verdict changes nothing. `by`: the operator. `providerPaymentId`: the incoming
 * payment to return or settle; null: all waiting ones, or the only one to settle. Rejects with `not_found` if there is no such payment,
 * with `held_already_settled` if the money was settled, with `invalid_request` if nothing is held or another verdict was given.
 */
export const reviewHeld =
  ({ commands, accounts }: Needs) =>
  async (
    id: PaymentId,
    verdict: HeldVerdict,
    by: Changer,
    providerPaymentId: string | null = null,
  ): Promise<HeldReview | Rejection> => {
    const stream = PAYMENT.stream(id);
    const { state } = await commands.load(PAYMENT, stream);
    if (!exists(state)) return NO_PAYMENT;
    const { accountId, mode } = state.charge.terms;
    const { settings } = await accounts.get(accountId);
    const at = await accounts.now(accountId, mode);
    const decide = decisionOf(verdict, { id, accountId, providerPaymentId, settings, by: by.actor, at });
    const metadata = { ...metadataForChange(by, accountId, id), mode };
    const done = await commands.execute(PAYMENT, stream, decide, metadata);
    if (isRejection(done)) return done;
    return { payment: done.state as ExistingPayment, isNew: done.appended > 0 };
  };
