// What is dated of a payment: its status, and when it became that.
import type { Timestamp } from '../../domain/kernel/time.ts';
import { exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';

/** The event's own date, in account time. */
const happenedAt = (event: PaymentEvent): Timestamp =>
  event.type === 'ChargeCreated' ? event.data.createdAt : event.data.at;

export const datedStatus = {
  of: (state: PaymentState) => (exists(state) ? transactionStatus(state) : null),
  at: happenedAt,
};
