// Scheduled deliveries that have not been attempted yet and so have no events. Operational data: it can be derived from the reported event
// and the endpoints at that time.
import type { DeliveryId, Tenant } from '../../domain/kernel/ids.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { JobRequest } from './jobs.ts';

export interface ScheduledDelivery {
  readonly deliveryId: DeliveryId;
  readonly tenant: Tenant;
  readonly target: string;
  /** Without the form of the body, which the first attempt determines. */
  readonly delivery: Omit<Delivery, 'form'>;
}

export interface ScheduledDeliveries {
  /** Stores the deliveries with their jobs in one transaction. Deliveries already stored are not changed and get no job. */
  schedule(deliveries: readonly { readonly scheduled: ScheduledDelivery; readonly job: JobRequest }[]): Promise<void>;
  /** Returns those of `ids` that are stored. */
  find(ids: readonly DeliveryId[]): Promise<ReadonlyMap<DeliveryId, ScheduledDelivery>>;
  /** Notes that the delivery's stream has begun. The read model takes the delivery over when it shows that. */
  begun(id: DeliveryId): void;
  /** Removes begun deliveries that the read model shows but did not take over, because they were stored again later. */
  sweep(): Promise<void>;
  /** Does the same for deliveries begun by other processes that crashed. */
  sweepAll(): Promise<void>;
}
