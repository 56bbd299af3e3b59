// What becomes of a Pix that arrived. The first rule that applies decides; the order is part of the contract (design §3, M4, M5):
//   1 this end-to-end id was seen             → duplicate, nothing
//   2 the money is there already or decided   → returned, second_payment
//   3 paid after expiry, or the charge failed or has no instrument → returned, charge_ended
//   4 another amount                          → returned, wrong_amount
//   5 payer lock, no document                 → held
//   6 payer lock, other document              → returned to the payer, the payment becomes refunded (payer_mismatch)
//   7                                         → settled
import type { Decided, Decision } from '../kernel/decider.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import { chargeFees, type FeeSchedule } from '../transaction/fees.ts';
import type { Receipt, RejectionReason } from '../transaction/transaction.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

export type SettleOutcome = 'settled' | 'returned' | 'refunded' | 'held' | 'duplicate';

export interface SettleReceipt {
  readonly receipt: Receipt;
  readonly fees: FeeSchedule;
  /** Days that settled Pix money stays pending; 0: available at once (M2). */
  readonly holdDays: number;
  /** Names the return at the provider, should there be one. */
  readonly returnId: string;
  /** Account time of the decision. */
  readonly at: Timestamp;
}

export const settleReceipt =
  (args: SettleReceipt): Decision<PaymentState, PaymentEvent, SettleOutcome> =>
  (state): Decided<PaymentEvent, SettleOutcome> => {
    const payment = assertExists(state);
    const { receipt } = args;
    if (payment.transaction.receipts.some((seen) => seen.endToEndId === receipt.endToEndId))
      return { events: [], reply: 'duplicate' };
    if (payment.transaction.status !== 'none') return sendBack(payment, args, 'second_payment');
    if (isLate(payment, receipt)) return sendBack(payment, args, 'charge_ended');
    if (receipt.amount !== payment.charge.terms.amount) return sendBack(payment, args, 'wrong_amount');
    const lock = payment.charge.terms.expectedPayerTaxId;
    if (lock !== null && receipt.payer.document === null) return hold(payment, args);
    if (lock !== null && receipt.payer.document !== lock) return sendBack(payment, args, 'payer_mismatch');
    return credit(payment, args);
  };

/** An expired charge still takes what was paid in time and heard of late (M4). */
const isLate = ({ charge }: ExistingPayment, receipt: Receipt): boolean =>
  charge.status === 'failed' || charge.status === 'requested' || receipt.paidAt > charge.pix.expiresAt;

const sendBack = (
  payment: ExistingPayment,
  { receipt, returnId, at }: SettleReceipt,
  reason: RejectionReason,
): Decided<PaymentEvent, SettleOutcome> => ({
  events: [
    {
      type: 'TransactionReceiptRejected',
      data: { receipt, currency: payment.charge.terms.currency, reason, returnId, at },
    },
  ],
  reply: reason === 'payer_mismatch' ? 'refunded' : 'returned',
});

const hold = (payment: ExistingPayment, { receipt, at }: SettleReceipt): Decided<PaymentEvent, SettleOutcome> => ({
  events: [{ type: 'TransactionHeld', data: { receipt, currency: payment.charge.terms.currency, at } }],
  reply: 'held',
});

const credit = (
  payment: ExistingPayment,
  { receipt, fees, holdDays, at }: SettleReceipt,
): Decided<PaymentEvent, SettleOutcome> => ({
  events: [
    {
      type: 'TransactionSettled',
      data: {
        receipt,
        method: 'PIX',
        currency: payment.charge.terms.currency,
        ...chargeFees(receipt.amount, fees.PIX),
        availableAt: holdDays === 0 ? null : addMillis(at, holdDays * DAY_MS),
        at,
      },
    },
  ],
  reply: 'settled',
});
