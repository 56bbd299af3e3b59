// The messages about the Pix-out of a cash-out refund: `payout.*`, and its legacy twin `withdrawal.*` (rules M6, W9).

import { PREFIX, type RefundId } from '../kernel/ids.ts';
import { ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type ExistingPayment, PAYMENT } from '../payment/payment.ts';
import { REFUND } from '../refund/refund.ts';
import type { RefundRecord } from '../transaction/refunds.ts';
import { canonicalMessage, legacyMessage, type Message } from './envelope.ts';
import { payoutView } from './refund.ts';
import type { TransactionStatus } from './status.ts';

type Step = 'created' | 'paid' | 'failed';

const PUBLISHED: { readonly [S in Step]: { readonly legacy: string; readonly status: TransactionStatus } } = {
  created: { legacy: 'withdrawal.created', status: 'PENDING' },
  paid: { legacy: 'withdrawal.completed', status: 'PAID' },
  failed: { legacy: 'withdrawal.failed', status: 'REFUSED' },
};

/** None for refunds that are no cash-outs. As with payments, creation is no change of status (W9a). */
export const payoutMessages = (
  { after, at }: { readonly after: ExistingPayment; readonly at: Timestamp },
  id: RefundId,
  step: Step,
): readonly Message[] => {
  const { transaction, charge } = after;
  const refunds = transaction.status === 'settled' ? transaction.refunds : [];
  const refund = refunds.find(({ refundId }) => refundId === id);
  if (refund?.strategy !== 'cashout') return [];
  const { legacy, status } = PUBLISHED[step];
  const data = () => withdrawalData(after, refund, status, at);
  return [
    canonicalMessage(`payout.${step}`, at, () => payoutView(charge.terms.paymentId, refund)),
    legacyMessage(legacy, at, data),
    ...(step === 'created' ? [] : [legacyMessage('withdrawal.status_changed', at, data)]),
  ];
};

/**
 * The fields of the legacy envelope, about the withdrawal; `transactionId` is the payment that is given back. Once PAID it has the fields
 * that the envelope has then (contract.md Legacy envelope). The fee of a Pix-out comes on top of its amount (M11).
 */
const withdrawalData = (
  { charge: { terms } }: ExistingPayment,
  refund: RefundRecord,
  status: TransactionStatus,
  occurredAt: Timestamp,
) => ({
  transactionId: PAYMENT.idPrefix + terms.paymentId,
  withdrawalId: PREFIX.payout + refund.refundId,
  refundId: REFUND.idPrefix + refund.refundId,
  amount: refund.amount,
  status,
  previousStatus: 'PENDING',
  ...(status === 'PAID' && paidFields(refund)),
  occurredAt,
  ...(terms.customerId !== null && { customerId: terms.customerId }),
});

const paidFields = ({ amount }: RefundRecord) => ({
  paidWith: 'PIX',
  providerFee: ZERO,
  platformFee: ZERO,
  netAmount: amount,
});
