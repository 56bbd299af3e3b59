// Refund and payout as the interface shows them (contract.md Refund, rule M6).

import { type PaymentId, PREFIX } from '../kernel/ids.ts';
import { PAYMENT } from '../payment/payment.ts';
import { REFUND, type RefundState } from '../refund/refund.ts';
import { feeOfMerchant, type RefundRecord } from '../transaction/refunds.ts';

type RefundStatus = 'PENDING' | 'IN_PROGRESS' | 'REFUNDED' | 'FAILED';
export const REFUND_STATUSES: readonly RefundStatus[] = ['PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED'];

/** The payment's stream says how it ended; before that, the refund's own says whether the provider has it. */
export const refundStatus = ({ outcome }: RefundRecord, way: RefundState['status'] = 'absent'): RefundStatus => {
  if (outcome.status === 'completed') return 'REFUNDED';
  if (outcome.status === 'failed') return 'FAILED';
  return way === 'absent' || way === 'requested' ? 'PENDING' : 'IN_PROGRESS';
};

export const refundView = (paymentId: PaymentId, refund: RefundRecord, way?: RefundState['status']) => ({
  id: REFUND.idPrefix + refund.refundId,
  transactionId: PAYMENT.idPrefix + paymentId,
  amount: refund.amount,
  currency: refund.currency,
  status: refundStatus(refund, way),
  reason: refund.reason,
  failureReason: refund.outcome.status === 'failed' ? refund.outcome.reason : null,
  createdAt: refund.requestedAt,
});

const PAYOUT_STATUS = { reserved: 'pending', completed: 'paid', failed: 'failed' } as const;

/** The Pix-out of a cash-out refund. */
export const payoutView = (paymentId: PaymentId, refund: RefundRecord) => {
  const { outcome } = refund;
  return {
    id: PREFIX.payout + refund.refundId,
    object: 'payout' as const,
    amount: refund.amount,
    currency: refund.currency,
    status: PAYOUT_STATUS[outcome.status],
    method: 'pix' as const,
    destination: refund.namedByMerchant ? refund.destination : null,
    refund_id: REFUND.idPrefix + refund.refundId,
    charge_id: PREFIX.charge + paymentId,
    fee: feeOfMerchant(refund),
    end_to_end_id: outcome.status === 'completed' ? outcome.endToEndId : null,
    failure_reason: outcome.status === 'failed' ? outcome.reason : null,
    created_at: refund.requestedAt,
    paid_at: outcome.status === 'completed' ? outcome.at : null,
  };
};
