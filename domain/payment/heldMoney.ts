// What of a payment waits for an operator (rule M5).
import type { Minor } from '../kernel/money.ts';
import { earlier, type Timestamp } from '../kernel/time.ts';
import type { IncomingPaymentRecord } from '../transaction/incomingPayment.ts';
import type { PaymentState } from './payment.ts';
import { lateConfirmations } from './settleHeld.ts';

interface HeldMoney {
  /** Of what was confirmed late: the id of the return, the Pix-out or the refund. */
  readonly providerPaymentId: string;
  readonly amount: Minor;
  /** null: nobody is named, or it was kept of a payment that must not be credited anyway. */
  readonly payerName: string | null;
  /** Why it was not credited, or `no_payer_document`: it may be. */
  readonly reason: 'no_payer_document' | 'confirmed_late' | NonNullable<IncomingPaymentRecord['reason']>;
  /** What the provider said when it was to be sent back; null: it was not asked. */
  readonly returnRefused: string | null;
  /** The time of the Pix, or of the refusal. */
  readonly since: Timestamp;
}

/** What of a payment waits for an operator: held for review, not sent back because the provider refuses, or confirmed after a refusal. */
export const heldMoney = ({ transaction }: PaymentState): readonly HeldMoney[] => {
  const kept = 'incoming' in transaction ? transaction.incoming : null;
  const late = lateConfirmations(transaction).map(({ id: providerPaymentId, amount, at: since }): HeldMoney => {
    return { providerPaymentId, amount, payerName: null, reason: 'confirmed_late', returnRefused: null, since };
  });
  const held = transaction.incomingPayments.flatMap(
    ({ providerPaymentId, amount, outcome, reason, refusal }): readonly HeldMoney[] => {
      const incoming = kept?.providerPaymentId === providerPaymentId ? kept : null;
      const payerName = incoming?.payer.name ?? null;
      const one = { providerPaymentId, amount, payerName };
      if (outcome === 'held' && incoming !== null)
        return [{ ...one, reason: 'no_payer_document', returnRefused: null, since: incoming.paidAt }];
      return outcome === 'unreturned' && refusal !== undefined && reason !== null
        ? [{ ...one, reason, returnRefused: refusal.reason, since: refusal.at }]
        : [];
    },
  );
  return [...held, ...late];
};

/** Since when; null: nothing of it waits for an operator. */
export const heldSince = (state: PaymentState): Timestamp | null =>
  heldMoney(state)
    .map(({ since }) => since)
    .reduce<Timestamp | null>((first, one) => (first === null ? one : earlier(first, one)), null);
