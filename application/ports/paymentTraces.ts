// Data about a payment in tables, besides its streams, for its story.
import type { DeliveryId, EndpointId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { DeliveryStatus } from '../../domain/presentation/delivery.ts';

/** A webhook delivery about the payment. */
export interface TracedDelivery {
  readonly id: DeliveryId;
  readonly eventType: string;
  /** null: the payment's own URL. */
  readonly endpointId: EndpointId | null;
  readonly scheduledAt: Timestamp;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** null: no attempt was answered. */
  readonly lastStatusCode: number | null;
}

/**
 * Returns the deliveries about a payment, tried or not, oldest first. A delivery is scheduled for the time of its event: `at` are all times
 * in the payment's events.
 */
export type DeliveriesOfPayment = (
  tenant: Tenant,
  id: PaymentId,
  at: readonly Timestamp[],
) => Promise<readonly TracedDelivery[]>;

/** A report of the provider about the payment. */
export interface TracedNotification {
  readonly kind: string;
  /** The provider's id of the payment or the fact. */
  readonly reference: string;
  readonly receivedAt: Timestamp;
  /** null: it is not handled yet. */
  readonly outcome: string | null;
}

/** Returns the reports of the provider about a payment, oldest first. */
export type NotificationsOfPayment = (tenant: Tenant, id: PaymentId) => Promise<readonly TracedNotification[]>;
