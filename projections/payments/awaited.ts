// What a payment waits for that happens by itself, and since when it should have: the watchdog's view (architecture §7).
import type { JobRequest } from '../../application/ports/jobs.ts';
import { pendingMethods } from '../../domain/charge/charge.ts';
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
  const returns = transaction.incomingPayments.flatMap(({ outcome, providerPaymentId }) =>
    outcome === 'rejected' ? [due(payment, charge.terms.createdAt, 'returnPayment', `${id}:${providerPaymentId}`)] : [],
  );
  const next = transaction.status === 'settled' ? ofSettled(payment) : ofUnpaid(payment);
  return returns.length === 0 ? next : [...returns, ...next];
};

const due = ({ charge }: ExistingPayment, at: Timestamp, queue: JobRequest['queue'], item: string): Awaited => {
  const { accountId, mode } = charge.terms;
  return { at, job: { queue, tenant: { accountId, mode }, item } };
};

const ofSettled = (payment: ExistingPayment): readonly Awaited[] => {
  const { charge, transaction } = payment;
  if (transaction.status !== 'settled') return [];
  const id = charge.terms.paymentId;
  const { availableAt } = transaction.settlement;
  const refunds = transaction.refunds.flatMap(({ outcome, requestedAt, refundId }) =>
    outcome.status === 'reserved' ? [due(payment, requestedAt, 'refund', `${id}:${refundId}`)] : [],
  );
  return availableAt === null || transaction.releasedAt !== null
    ? refunds
    : [...refunds, due(payment, availableAt, 'releaseFunds', id)];
};

const ofUnpaid = (payment: ExistingPayment): readonly Awaited[] => {
  const { charge, transaction } = payment;
  const id = charge.terms.paymentId;
  if (charge.cancelRequestedAt !== null && notCancellable(payment) === null)
    return [due(payment, charge.cancelRequestedAt, 'cancel', id)];
  if (transaction.status !== 'none' && transaction.status !== 'processing') return [];
  if (charge.status !== 'requested' && charge.status !== 'open') return [];
  const { createdAt, api } = charge.terms;
  const creation = pendingMethods(charge).length === 0 ? [] : ofCreation(payment, createdAt, api);
  const expiresAt = charge.status === 'open' ? lastExpiry(charge.instruments) : null;
  return expiresAt === null ? creation : [...creation, due(payment, expiresAt, 'expire', id)];
};

/** When the process asks by itself what became of a charge's instrument, and when it ends a payment's creation (K7). */
const RESUMED_AFTER_SECONDS = 60;
const ENDED_AFTER_SECONDS = 540;

const ofCreation = (payment: ExistingPayment, createdAt: Timestamp, api: 'charges' | 'payments') => {
  const id = payment.charge.terms.paymentId;
  if (api === 'charges') return [due(payment, addSeconds(createdAt, RESUMED_AFTER_SECONDS), 'resumeCreation', id)];
  return [
    due(payment, createdAt, 'finalise', id),
    due(payment, addSeconds(createdAt, ENDED_AFTER_SECONDS), 'resumeCreation', id),
  ];
};
