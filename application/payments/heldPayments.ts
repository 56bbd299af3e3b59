// Lists held payments and applies operators' decisions on them (rule M5).
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { heldMoney } from '../../domain/payment/heldMoney.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { HeldPayments } from '../ports/readModels/payments.ts';
import { type HeldVerdict, reviewHeld } from './reviewHeld.ts';

export interface HeldNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
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
  readonly reason: string;
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
