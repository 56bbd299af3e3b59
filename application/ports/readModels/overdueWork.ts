// Overdue work of all tenants, as the read models show it, for the watchdog (architecture §7).
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
  readonly dueAt: Timestamp;
}

/**
 * Both yield everything that was due before `before` by the account's clock, `page` rows at a time. While a test clock is being drained,
 * what is due by it is left to the drain.
 */
export interface OverdueWork {
  payments(before: Timestamp, page: number): AsyncIterable<readonly OverduePayment[]>;
  /** Messages that wait for no timer. */
  deliveries(before: Timestamp, page: number): AsyncIterable<readonly OverdueDelivery[]>;
}
