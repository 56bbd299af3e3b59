// Deliveries that were scheduled and of which nothing has happened yet: they have no event. Operational: they follow from the event that
// they tell of and the endpoints at the time.
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { JobRequest } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';

export interface ScheduledDelivery {
  readonly deliveryId: DeliveryId;
  readonly tenant: Tenant;
  readonly target: string;
  /** The form of its body is that of its first attempt. */
  readonly delivery: Omit<Delivery, 'form'>;
}

export interface ScheduledDeliveries {
  /** Writes them down, each with its job, in one transaction. One that is written down already is left as it is, without a job. */
  schedule(deliveries: readonly { readonly scheduled: ScheduledDelivery; readonly job: JobRequest }[]): Promise<void>;
  /** Returns those of `ids` that are written down. */
  find(ids: readonly DeliveryId[]): Promise<ReadonlyMap<DeliveryId, ScheduledDelivery>>;
  /** The stream of the delivery has begun: the read model takes it over once it shows that. */
  begun(id: DeliveryId): void;
  /** Removes those that have begun and that the read model shows, and did not take over: they were written down again later. */
  sweep(): Promise<void>;
  /** The same for those that other processes began and did not live to remove. */
  sweepAll(): Promise<void>;
}
