// Money of a payment that awaits an operator's decision (rule M5).
import type { Minor } from '../kernel/money.ts';
import { earlier, type Timestamp } from '../kernel/time.ts';
import { type IncomingPaymentRecord, leftOf } from '../transaction/incomingPayment.ts';
import type { PaymentState } from './payment.ts';
import { lateConfirmations } from './settleHeld.ts';

/** Only `no_payer_document` may still be credited. */
export type HeldReason = 'no_payer_document' | 'confirmed_late' | NonNullable<IncomingPaymentRecord['reason']>;

interface HeldMoney {
  /** For late confirmations: the id of the return, the Pix-out or the refund. */
  readonly providerPaymentId: string;
  readonly amount: Minor;
  /** null if the payer is unknown, or if the payment must not be credited anyway. */
  readonly payerName: string | null;
  /** Why it was not credited. */
  readonly reason: HeldReason;
  /** The provider's reason for refusing the return; null if no return was attempted. */
  readonly returnRefused: string | null;
  /** Time of the Pix or of the refusal. */
  readonly since: Timestamp;
}

/** Returns the payment's money that awaits an operator: held for review, return refused, or confirmed after a refusal. */
export const heldMoney = ({ transaction }: PaymentState): readonly HeldMoney[] => {
  const kept = 'incoming' in transaction ? transaction.incoming : null;
  const late = lateConfirmations(transaction).map(({ id: providerPaymentId, amount, at: since }): HeldMoney => {
    return { providerPaymentId, amount, payerName: null, reason: 'confirmed_late', returnRefused: null, since };
  });
  const held = transaction.incomingPayments.flatMap((record): readonly HeldMoney[] => {
    const { providerPaymentId, outcome, reason, refusal } = record;
    const amount = leftOf(record);
    const incoming = kept?.providerPaymentId === providerPaymentId ? kept : null;
    const payerName = incoming?.payer.name ?? null;
    const one = { providerPaymentId, amount, payerName };
    if (outcome === 'held' && incoming !== null)
      return [{ ...one, reason: 'no_payer_document', returnRefused: null, since: incoming.paidAt }];
    return outcome === 'unreturned' && refusal !== undefined && reason !== null
      ? [{ ...one, reason, returnRefused: refusal.reason, since: refusal.at }]
      : [];
  });
  return [...held, ...late];
};

/** Returns the earliest time since when money awaits an operator, or null if none does. */
export const heldSince = (state: PaymentState): Timestamp | null =>
  heldMoney(state)
    .map(({ since }) => since)
    .reduce<Timestamp | null>((first, one) => (first === null ? one : earlier(first, one)), null);
