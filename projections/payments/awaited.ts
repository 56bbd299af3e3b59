// What a payment waits for that happens by itself, and since when it should have: the watchdog's view (design §7).
import type { JobRequest } from '../../application/ports/jobs.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { exists, type PaymentState } from '../../domain/payment/payment.ts';

/** null: nothing happens any more without somebody asking for it. */
export const awaited = (state: PaymentState): { readonly at: Timestamp; readonly job: JobRequest } | null => {
  if (!exists(state)) return null;
  const { charge, transaction } = state;
  const id = charge.terms.paymentId;
  const owed = transaction.receipts.find(({ outcome }) => outcome === 'rejected');
  if (owed) return { at: charge.terms.createdAt, job: { queue: 'returnReceipt', item: `${id}:${owed.endToEndId}` } };
  if (transaction.status === 'settled') {
    const { availableAt } = transaction.settlement;
    return availableAt === null || transaction.releasedAt !== null
      ? null
      : { at: availableAt, job: { queue: 'releaseFunds', item: id } };
  }
  if (transaction.status !== 'none') return null;
  if (charge.status === 'requested')
    return { at: addSeconds(charge.terms.createdAt, 600), job: { queue: 'resumeCreation', item: id } };
  return charge.status === 'open' ? { at: charge.pix.expiresAt, job: { queue: 'expire', item: id } } : null;
};
