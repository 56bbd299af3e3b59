// The Pix-out of a cash-out refund shown as a payout: its public object and its messages (rules M6, Y2, W9).

import { type PaymentId, PREFIX, type RefundId } from '../kernel/ids.ts';
import type { Message } from '../kernel/publisher.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { ExistingPayment } from '../payment/payment.ts';
import { REFUND } from '../refund/refund.ts';
import { feeOfMerchant, type RefundRecord } from '../transaction/refunds.ts';
import { maskedPixKey, type PayoutView, stepMessages } from './payout.ts';

const STATUS = { reserved: 'pending', completed: 'paid', failed: 'failed' } as const;

export const refundPayoutView = (paymentId: PaymentId, refund: RefundRecord): PayoutView => {
  const { outcome, destination } = refund;
  return {
    id: PREFIX.payout + refund.refundId,
    object: 'payout',
    amount: refund.amount,
    currency: refund.currency,
    status: STATUS[outcome.status],
    method: 'pix',
    destination: refund.namedByMerchant && destination !== null ? maskedPixKey(destination) : null,
    refund_id: REFUND.idPrefix + refund.refundId,
    charge_id: PREFIX.charge + paymentId,
    fee: feeOfMerchant(refund),
    end_to_end_id: outcome.status === 'completed' ? outcome.endToEndId : null,
    failure_reason: outcome.status === 'failed' ? outcome.reason : null,
    created_at: refund.requestedAt,
    paid_at: outcome.status === 'completed' ? outcome.at : null,
    description: null,
    metadata: {},
    awaiting_approval: false,
  };
};

/** Returns no messages for refunds that are not cash-outs. `transactionId` is the refunded payment. */
export const payoutMessages = (
  { after, at }: { readonly after: ExistingPayment; readonly at: Timestamp },
  id: RefundId,
  step: 'created' | 'paid' | 'failed',
): readonly Message[] => {
  const { transaction, charge } = after;
  const refunds = transaction.status === 'settled' ? transaction.refunds : [];
  const refund = refunds.find(({ refundId }) => refundId === id);
  if (refund?.strategy !== 'cashout') return [];
  const { paymentId, customerId } = charge.terms;
  return stepMessages(
    step,
    at,
    refund.amount,
    () => refundPayoutView(paymentId, refund),
    () => ({
      transactionId: PREFIX.transaction + paymentId,
      withdrawalId: PREFIX.payout + id,
      refundId: REFUND.idPrefix + id,
      ...(customerId !== null && { customerId }),
    }),
  );
};
