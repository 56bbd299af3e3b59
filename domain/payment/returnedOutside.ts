// Records returns that Quita did not request (rules V9, V10).
import type { Decision } from '../kernel/decider.ts';
import { least, type Minor, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { heldByDispute, type ReturnNature } from '../transaction/returnedOutside.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

export interface OutsideReturn {
  readonly providerPaymentId: string;
  readonly id: string;
  readonly returnId: string | null;
  readonly nature: ReturnNature;
  readonly amount: Minor;
}

/**
 * Records a return that the provider made without Quita's request. The money was the merchant's if the payment was credited, even if its
 * balance becomes negative (M3); otherwise the payer has less to get. No-op if it is recorded, or if the payment never recorded the Pix.
 */
export const recordReturnedOutside =
  (made: OutsideReturn, at: Timestamp): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((one) => one.providerPaymentId === made.providerPaymentId);
    if (seen === undefined || seen.outside?.some(({ id }) => id === made.id)) return { events: [], reply: 'nothing' };
    const { providerPaymentId, id, returnId, nature, amount } = made;
    const isCredited = seen.outcome === 'settled';
    const dispute = transaction.status === 'settled' ? transaction.dispute : null;
    const fromHold = isCredited ? least(amount, heldByDispute(dispute)) : ZERO;
    const owner = isCredited ? 'merchant' : 'payer';
    const { currency } = charge.terms;
    const data = { providerPaymentId, id, returnId, nature, owner, fromHold, amount, currency, at } as const;
    return { events: [{ type: 'TransactionReturnedOutside', data }], reply: 'recorded' };
  };
