// What the read models show to be overdue, of all tenants: what the watchdog looks for (architecture §7).
import type { DeliveryId, PaymentId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { PendingWork } from '../../../domain/payment/pendingWork.ts';
import type { Tenant } from '../paymentProvider.ts';

export interface OverduePayment {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId;
  readonly work: PendingWork;
}
export interface OverdueDelivery {
  readonly tenant: Tenant;
  readonly deliveryId: DeliveryId;
  readonly target: string;
}

/**
 * Both yield all that there is, `page` rows at a time: what was due before `before`, by the clock of the account. While a test clock is
 * being drained, what is due by it is the drain's.
 */
export interface OverdueWork {
  payments(before: Timestamp, page: number): AsyncIterable<readonly OverduePayment[]>;
  /** Messages that wait for no timer. */
  deliveries(before: Timestamp, page: number): AsyncIterable<readonly OverdueDelivery[]>;
}
