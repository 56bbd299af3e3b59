// The public view of a webhook delivery.

import type { DeliveryId } from '../kernel/ids.ts';
import { later, type Timestamp } from '../kernel/time.ts';
import { maxAttemptsOf, WEBHOOK_DELIVERY, type WebhookDeliveryState } from '../webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../webhookEndpoint/webhookEndpoint.ts';

export type DeliveryStatus = 'PENDING' | 'PROCESSING' | 'DELIVERED' | 'FAILED' | 'CANCELLED';
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'PENDING',
  'PROCESSING',
  'DELIVERED',
  'FAILED',
  'CANCELLED',
];

export type ExistingDelivery = Exclude<WebhookDeliveryState, { status: 'absent' }>;

const STATUS_OF = {
  pending: 'PENDING',
  delivered: 'DELIVERED',
  deadLettered: 'FAILED',
  cancelled: 'CANCELLED',
} as const;
/** Statuses that a delivery's stream determines. An attempt in progress is not an event. */
export type StoredStatus = Exclude<DeliveryStatus, 'PROCESSING'>;
export const deliveryStatus = (state: ExistingDelivery): StoredStatus => STATUS_OF[state.status];

/** Facts about a delivery that its stream doesn't hold. */
export interface DeliveryNow {
  /** Whether an attempt is in progress. */
  readonly isUnderWay: boolean;
  /** Whether its endpoint is inactive, so that no attempt is planned. */
  readonly isPaused: boolean;
  /** Time of the next attempt, or of the event that it awaits; null to use the stream's. */
  readonly dueAt: Timestamp | null;
}

/** `body` is the JSON text that its attempts send. `now` is account time; an overdue attempt shows as due now. */
export const deliveryView = (
  id: DeliveryId,
  state: ExistingDelivery,
  { isUnderWay, isPaused, dueAt }: DeliveryNow,
  body: string,
  now: Timestamp,
) => ({
  id: WEBHOOK_DELIVERY.idPrefix + id,
  endpointId: state.delivery.endpointId === null ? null : WEBHOOK_ENDPOINT.idPrefix + state.delivery.endpointId,
  eventType: state.delivery.eventType,
  status: isUnderWay ? ('PROCESSING' as const) : deliveryStatus(state),
  attempts: state.attempts,
  maxAttempts: maxAttemptsOf(state),
  lastStatusCode: state.lastStatusCode,
  lastError: state.lastError,
  ...(state.lastResponseBody === null ? {} : { lastResponseBody: state.lastResponseBody }),
  nextRetryAt: state.status === 'pending' && !isUnderWay && !isPaused ? later(now, dueAt ?? state.nextAttemptAt) : null,
  deliveredAt: state.status === 'delivered' ? state.updatedAt : null,
  createdAt: state.delivery.scheduledAt,
  updatedAt: state.updatedAt,
  payload: JSON.parse(body) as unknown,
});
