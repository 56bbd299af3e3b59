// Webhook delivery as the interface shows it.

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
/** What a delivery's stream can tell: that an attempt is being made is no event. */
export type StoredStatus = Exclude<DeliveryStatus, 'PROCESSING'>;
export const deliveryStatus = (state: ExistingDelivery): StoredStatus => STATUS_OF[state.status];

/** What is known about a delivery besides its stream. */
export interface DeliveryNow {
  /** An attempt has begun, and what came of it is not known yet. */
  readonly isUnderWay: boolean;
  /** Its endpoint is inactive: no attempt is planned. */
  readonly isPaused: boolean;
  /** When it is attempted next, or what it waits for is; null: as its stream says. */
  readonly dueAt: Timestamp | null;
}

/** `body`: what its attempts send, a JSON text. `now`: account time; what is overdue is due now. */
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
