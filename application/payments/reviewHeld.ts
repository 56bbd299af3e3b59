// What an operator decides of what is held (rules M5, M10): let it pass, send it back, pay it out or write it off. Processes do the rest.

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
  /** False: it had been decided so before. */
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
 * `by`: who decides. `providerPaymentId`: which of the payment's to return or settle; null: all that wait, or the only one to
 * settle. The same verdict again: nothing, but `held_already_settled` of what is settled. The other one after it, or nothing held:
 * `invalid_request`; no such payment: `not_found`.
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
