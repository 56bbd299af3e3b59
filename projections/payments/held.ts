// What waits for an operator, of all accounts (rules M5, O1).
import type { Sql } from '../../application/ports/sql.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { earlier, type Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment, PaymentState } from '../../domain/payment/payment.ts';
import { lateConfirmations } from '../../domain/payment/settleHeld.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/transaction.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { paymentOf, selectPayment } from './row.ts';

export interface HeldMoney {
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

/** How many payments there are of which something is held. */
export const countHeld = async (db: Sql): Promise<number> => {
  const { rows } = await db.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM rm_payments.payments WHERE held_since IS NOT NULL',
  );
  return rows[0]?.total ?? 0;
};

/** Payments of which something is held, longest first. `total` counts those beyond `limit` too. */
export const listHeld = async (
  db: Sql,
  limit: number,
): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }> => {
  const { rows } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE held_since IS NOT NULL ORDER BY held_since, id LIMIT $1`,
    [limit],
  );
  return { held: rows.map(paymentOf), total: await countHeld(db) };
};
