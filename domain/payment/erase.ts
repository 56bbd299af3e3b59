// Decides on erasures of a payment's personal data (rules L2, L3).
import type { Decision } from '../kernel/decider.ts';
import { type ErasureReply, type ErasureWish, erasureOf } from '../kernel/erasure.ts';
import { isRejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { PaymentPersonalDataErased } from './erasure.ts';
import { endOf, unfinishedBecause } from './finality.ts';
import { exists, type PaymentEvent, type PaymentState } from './payment.ts';

/**
 * Erases the payment's personal data. Checks in order: it exists (`not_found`), is erased already (no-op, unless it is to be erased
 * `again`), has ended (`payment_not_final`), and its retention has passed or is overridden (`retention_not_passed`).
 */
export const erasePayment =
  (wish: ErasureWish, at: Timestamp, again = false): Decision<PaymentState, PaymentEvent, ErasureReply> =>
  (state) => {
    if (!exists(state)) return reject('not_found', 'There is no such payment.');
    if (state.charge.erasedAt !== undefined && !again) return { events: [], reply: 'erasedBefore' };
    const because = unfinishedBecause(state);
    if (because !== null)
      return reject('payment_not_final', `The payment’s data can’t be erased yet, because ${because}.`);
    const erasure = erasureOf(wish, endOf(state), at);
    if (isRejection(erasure)) return erasure;
    return { events: [{ type: 'PaymentPersonalDataErased', data: erasure }], reply: 'erased' };
  };

/** Erases data that was recorded after the erasure, before the key was destroyed. No-op if the payment was not erased. */
export const erasePaymentAgain =
  (at: Timestamp): Decision<PaymentState, PaymentEvent, 'erased'> =>
  (state) => ({
    events:
      exists(state) && state.charge.erasedAt !== undefined
        ? [{ type: 'PaymentPersonalDataErased', data: { ...LATE, at } }]
        : [],
    reply: 'erased',
  });
const LATE = { by: 'process:erasure', reason: 'recorded after the erasure', despiteRetention: false } as const;

/** Returns whether somebody ordered the erasure. Then all disputes of the payment had ended, unlike at an erasure of what came later. */
export const isOrdered = ({ data }: PaymentPersonalDataErased): boolean => data.by !== LATE.by;
