// The public view of a refund (contract.md Refund).

import { type PaymentId, PREFIX } from '../kernel/ids.ts';
import { REFUND, type RefundState } from '../refund/refund.ts';
import type { RefundRecord } from '../transaction/refunds.ts';

type RefundStatus = 'PENDING' | 'IN_PROGRESS' | 'REFUNDED' | 'FAILED';
export const REFUND_STATUSES: readonly RefundStatus[] = ['PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED'];

/** Returns the status: from the payment's stream once the refund has ended, before that from the refund's own stream. */
export const refundStatus = ({ outcome }: RefundRecord, way: RefundState['status'] = 'absent'): RefundStatus => {
  if (outcome.status === 'completed') return 'REFUNDED';
  if (outcome.status === 'failed') return 'FAILED';
  return way === 'absent' || way === 'requested' ? 'PENDING' : 'IN_PROGRESS';
};

export const refundView = (paymentId: PaymentId, refund: RefundRecord, way?: RefundState['status']) => ({
  id: REFUND.idPrefix + refund.refundId,
  transactionId: PREFIX.transaction + paymentId,
  amount: refund.amount,
  currency: refund.currency,
  status: refundStatus(refund, way),
  reason: refund.reason,
  failureReason: refund.outcome.status === 'failed' ? refund.outcome.reason : null,
  createdAt: refund.requestedAt,
});
