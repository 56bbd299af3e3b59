// Automatic work that a payment awaits, and since when it is due. The watchdog looks for overdue work (architecture §7).
import type { ChargeTerms } from '../charge/charge.ts';
import { pendingMethods } from '../charge/charge.ts';
import { lastExpiry } from '../charge/instruments.ts';
import type { RefundId } from '../kernel/ids.ts';
import { addMillis, MINUTE_MS, type Timestamp } from '../kernel/time.ts';
import { notCancellable } from './cancel.ts';
import { type ExistingPayment, exists, type PaymentState } from './payment.ts';

/** Time after which issuing an instrument is resumed without a repeat of the request (K7). */
export const RESUMED_AFTER_MS = MINUTE_MS;
/** Time after which issuing ends in any case (K7: within 10 minutes of account time). */
export const GIVEN_UP_AFTER_MS = 9 * MINUTE_MS;

/** `at`: due time, in account time. */
export type PendingWork = { readonly at: Timestamp } & (
  | { readonly kind: 'issueInstruments' | 'resumeIssuing' | 'expire' | 'cancel' | 'releaseFunds' }
  | { readonly kind: 'returnPayment'; readonly providerPaymentId: string }
  | { readonly kind: 'refund'; readonly refundId: RefundId }
);

/** Returns the earliest due time, or null if the payment awaits no automatic work. */
export const pendingSince = (state: PaymentState): Timestamp | null => {
  if (!exists(state)) return null;
  let earliest: Timestamp | null = null;
  for (const { at } of pendingWork(state)) if (earliest === null || at < earliest) earliest = at;
  return earliest;
};

/** Returns all pending work separately, so that a slow refund can't hide an overdue release of funds. */
export const pendingWork = (payment: ExistingPayment): readonly PendingWork[] => {
  const { charge, transaction } = payment;
  const returns = transaction.incomingPayments.flatMap((one): readonly PendingWork[] => {
    const { outcome, providerPaymentId, payouts = [] } = one;
    if (outcome === 'rejected') return [{ kind: 'returnPayment', at: charge.terms.createdAt, providerPaymentId }];
    return payouts.flatMap(({ outcome: ofPayout, payoutId: refundId, requestedAt: at }): readonly PendingWork[] =>
      ofPayout === 'requested' ? [{ kind: 'refund', at, refundId }] : [],
    );
  });
  const next = transaction.status === 'settled' ? ofSettled(payment) : ofUnpaid(payment);
  return returns.length === 0 ? next : [...returns, ...next];
};

const ofSettled = ({ transaction }: ExistingPayment): readonly PendingWork[] => {
  if (transaction.status !== 'settled') return [];
  const { availableAt } = transaction.settlement;
  const refunds = transaction.refunds.flatMap(({ outcome, requestedAt: at, refundId }): readonly PendingWork[] =>
    outcome.status === 'reserved' ? [{ kind: 'refund', at, refundId }] : [],
  );
  return availableAt === null || transaction.releasedAt !== null
    ? refunds
    : [...refunds, { kind: 'releaseFunds', at: availableAt }];
};

const ofUnpaid = (payment: ExistingPayment): readonly PendingWork[] => {
  const { charge, transaction } = payment;
  if (charge.cancelRequestedAt !== null && notCancellable(payment) === null)
    return [{ kind: 'cancel', at: charge.cancelRequestedAt }];
  if (transaction.status !== 'none' && transaction.status !== 'processing') return [];
  if (charge.status !== 'requested' && charge.status !== 'open') return [];
  if (pendingMethods(charge).length > 0) return ofIssuing(charge.terms);
  const expiresAt = lastExpiry(charge.instruments);
  return expiresAt === null ? [] : [{ kind: 'expire', at: expiresAt }];
};

/** Due times of the process that looks up a charge's instrument and ends the issuing for a payment (K7). */
const ofIssuing = ({ createdAt, api }: ChargeTerms): readonly PendingWork[] =>
  api === 'charges'
    ? [{ kind: 'resumeIssuing', at: addMillis(createdAt, RESUMED_AFTER_MS) }]
    : [
        { kind: 'issueInstruments', at: createdAt },
        { kind: 'resumeIssuing', at: addMillis(createdAt, GIVEN_UP_AFTER_MS) },
      ];
