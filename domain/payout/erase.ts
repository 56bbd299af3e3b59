// Decides on erasures of a payout's personal data (rules L2, L3).
import type { Decision } from '../kernel/decider.ts';
import { type ErasureReply, type ErasureWish, erasureOf } from '../kernel/erasure.ts';
import { isRejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { NO_PAYOUT } from './decisions.ts';
import type { Payout, PayoutEvent, PayoutState } from './payout.ts';

/** Returns when the payout ended, or null if it has not. */
export const endOfPayout = (payout: Payout): Timestamp | null => {
  switch (payout.status) {
    case 'paid':
      return payout.paidAt;
    case 'failed':
      return payout.failedAt;
    case 'rejected':
    case 'cancelled':
      return payout.endedAt;
    default:
      return null;
  }
};

/** Erases the payout's personal data. The checks are those of a payment. */
export const erasePayout =
  (wish: ErasureWish, at: Timestamp): Decision<PayoutState, PayoutEvent, ErasureReply> =>
  (state) => {
    if (state.status === 'absent') return NO_PAYOUT;
    if (state.erasedAt !== undefined) return { events: [], reply: 'erasedBefore' };
    const end = endOfPayout(state);
    if (end === null) return reject('payment_not_final', 'The payout’s data can’t be erased before the payout ends.');
    const erasure = erasureOf(wish, end, at);
    if (isRejection(erasure)) return erasure;
    return { events: [{ type: 'PayoutPersonalDataErased', data: erasure }], reply: 'erased' };
  };
