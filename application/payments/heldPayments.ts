// Lists held payments and applies operators' decisions on them (rules M5, M10): release, return, pay out or write off. Processes carry the
// decisions out.
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Decision } from '../../domain/kernel/decider.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { releaseHeld, returnHeld } from '../../domain/payment/held.ts';
import { type HeldReason, heldMoney } from '../../domain/payment/heldMoney.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import type { SettlementTerms } from '../../domain/payment/settle.ts';
import { type SettleHeld, settleHeld } from '../../domain/payment/settleHeld.ts';
import { isPixKey } from '../../domain/pix/pixKey.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import { heldPayoutIdOf, returnIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { reasonRefused } from '../core/operatorsReason.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { HeldPayments } from '../ports/readModels/payments.ts';
import { NO_PAYMENT } from './ownPayment.ts';

/** The operator's input. */
interface SentHeldSettlement {
  readonly pixOut?: string | undefined;
  readonly writtenOff?: boolean | undefined;
  readonly reason: string;
}

/**
 * Returns the settlement. Rejects with `invalid_request` unless exactly one of `pixOut` and `writtenOff` is given, if `pixOut` is not a
 * Pix key, or if the reason is blank or longer than 500 characters.
 */
export const heldSettlementOf = ({
  pixOut,
  writtenOff = false,
  reason,
}: SentHeldSettlement): Pick<SettleHeld, 'pixOut' | 'reason'> | Rejection => {
  if ((pixOut !== undefined) === writtenOff)
    return reject('invalid_request', 'Specify either a Pix key for the payout or a write-off.', {
      param: 'pixOut',
    });
  if (pixOut !== undefined && !isPixKey(pixOut))
    return reject(
      'invalid_request',
      'The Pix key must be a CPF or CNPJ without punctuation, a phone number with +55, a lowercase email address or a UUID.',
      { param: 'pixOut' },
    );
  return reasonRefused(reason) ?? { pixOut: pixOut ?? null, reason };
};

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
  ({ commands, accounts }: UseCaseNeeds) =>
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

export interface HeldNeeds extends UseCaseNeeds {
  readonly held: HeldPayments;
}

export interface HeldItem {
  readonly paymentId: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly amount: number;
  readonly currency: string;
  readonly providerPaymentId: string;
  readonly payerName: string | null;
  readonly expectedPayerTaxId: string | null;
  readonly reason: HeldReason;
  /** Why the provider refused to return it; null if no return was attempted. */
  readonly returnRefused: string | null;
  readonly heldSince: string;
}

const heldItems = (payment: ExistingPayment): readonly HeldItem[] =>
  heldMoney(payment).map(({ providerPaymentId, amount, payerName, reason, returnRefused, since }) => {
    const { paymentId, accountId, mode, currency, expectedPayerTaxId } = payment.charge.terms;
    return {
      paymentId: PAYMENT.idPrefix + paymentId,
      accountId: ACCOUNT.idPrefix + accountId,
      mode,
      amount,
      currency,
      providerPaymentId,
      payerName,
      expectedPayerTaxId,
      reason,
      returnRefused,
      heldSince: since,
    };
  });

export const heldPayments = (needs: HeldNeeds) => ({
  /** Returns payments with held money, longest held first. `total` also counts those beyond `limit`. */
  listHeld: async (
    limit: number,
  ): Promise<{ readonly held: readonly HeldItem[]; readonly total: number; readonly rest: number }> => {
    const { held, total } = await needs.held.list(limit);
    return { held: held.flatMap(heldItems), total, rest: total - held.length };
  },
  /** Returns the held money of one payment, from its stream. Rejects with `not_found`. */
  showHeld: async (id: PaymentId): Promise<readonly HeldItem[] | Rejection> => {
    const { state } = await needs.commands.load(PAYMENT, PAYMENT.stream(id));
    return exists(state) ? heldItems(state) : NO_PAYMENT;
  },
  /** Applies an operator's decision. Rejects as `reviewHeld` does. */
  reviewHeld: async (
    id: PaymentId,
    verdict: HeldVerdict,
    by: Changer,
    providerPaymentId: string | null,
  ): Promise<{ readonly paymentId: string; readonly status: string; readonly isNew: boolean } | Rejection> => {
    const reviewed = await reviewHeld(needs)(id, verdict, by, providerPaymentId);
    if (isRejection(reviewed)) return reviewed;
    const { payment, isNew } = reviewed;
    return { paymentId: PAYMENT.idPrefix + id, status: transactionStatus(payment), isNew };
  },
});
