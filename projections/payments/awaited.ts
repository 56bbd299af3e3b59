// What a payment waits for that happens by itself, and since when it should have: the watchdog's view (design §7).
import type { JobRequest } from '../../application/ports/jobs.ts';
import { lastExpiry } from '../../domain/charge/instruments.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { notCancellable } from '../../domain/payment/cancel.ts';
import { type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';

export interface Awaited {
  readonly at: Timestamp;
  readonly job: JobRequest;
}

/** The earliest; null: nothing happens any more without somebody asking for it. */
export const awaited = (state: PaymentState): Awaited | null => {
  if (!exists(state)) return null;
  let earliest: Awaited | null = null;
  for (const one of allAwaited(state)) if (earliest === null || one.at < earliest.at) earliest = one;
  return earliest;
};

/** All that it waits for, each on its own: a refund that takes its time must not hide that funds should have been released. */
export const allAwaited = (payment: ExistingPayment): readonly Awaited[] => {
  const { charge, transaction } = payment;
  const id = charge.terms.paymentId;
  const returns = transaction.receipts.flatMap(({ outcome, endToEndId }): readonly Awaited[] =>
    outcome === 'rejected'
      ? [{ at: charge.terms.createdAt, job: { queue: 'returnReceipt', item: `${id}:${endToEndId}` } }]
      : [],
  );
  const next = transaction.status === 'settled' ? ofSettled(payment) : ofUnpaid(payment);
  return returns.length === 0 ? next : [...returns, ...next];
};

const ofSettled = ({ charge, transaction }: ExistingPayment): readonly Awaited[] => {
  if (transaction.status !== 'settled') return [];
  const id = charge.terms.paymentId;
  const { availableAt } = transaction.settlement;
  const refunds = transaction.refunds.flatMap(({ outcome, requestedAt, refundId }): readonly Awaited[] =>
    outcome.status === 'reserved' ? [{ at: requestedAt, job: { queue: 'refund', item: `${id}:${refundId}` } }] : [],
  );
  return availableAt === null || transaction.releasedAt !== null
    ? refunds
    : [...refunds, { at: availableAt, job: { queue: 'releaseFunds', item: id } }];
};

const ofUnpaid = (payment: ExistingPayment): readonly Awaited[] => {
  const { charge, transaction } = payment;
  const id = charge.terms.paymentId;
  if (charge.cancelRequestedAt !== null && notCancellable(payment) === null)
    return [{ at: charge.cancelRequestedAt, job: { queue: 'cancel', item: id } }];
  if (transaction.status !== 'none' && transaction.status !== 'processing') return [];
  if (charge.status === 'requested')
    return [{ at: addSeconds(charge.terms.createdAt, 600), job: { queue: 'resumeCreation', item: id } }];
  const expiresAt = charge.status === 'open' ? lastExpiry(charge.instruments) : null;
  return expiresAt === null ? [] : [{ at: expiresAt, job: { queue: 'expire', item: id } }];
};
