// Webhook endpoint and delivery as the interface shows them.
import { PREFIX } from '../kernel/ids.ts';
import { later, type Timestamp } from '../kernel/time.ts';
import type { WebhookDeliveryState } from '../webhookDelivery/webhookDelivery.ts';
import type { Endpoint } from '../webhookEndpoint/webhookEndpoint.ts';

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
export const deliveryStatus = (state: ExistingDelivery): DeliveryStatus => STATUS_OF[state.status];

/** What a delivery's stream does not tell. */
export interface DeliveryNow {
  /** An attempt has begun, and what came of it is not known yet. */
  readonly isUnderWay: boolean;
  /** When it is attempted next, or what it waits for is; null: as its stream says. */
  readonly dueAt: Timestamp | null;
  /** Account time: what is overdue is due now. */
  readonly now: Timestamp;
}

export const deliveryView = (state: ExistingDelivery, { isUnderWay, dueAt, now }: DeliveryNow) => ({
  id: PREFIX.delivery + state.delivery.deliveryId,
  endpointId: state.delivery.endpointId === null ? null : PREFIX.endpoint + state.delivery.endpointId,
  eventType: state.delivery.eventType,
  status: isUnderWay ? 'PROCESSING' : deliveryStatus(state),
  attempts: state.attempts,
  maxAttempts: state.delivery.maxAttempts,
  lastStatusCode: state.lastStatusCode,
  lastError: state.lastError,
  ...(state.lastResponseBody === null ? {} : { lastResponseBody: state.lastResponseBody }),
  nextRetryAt: state.status === 'pending' && !isUnderWay ? later(now, dueAt ?? state.nextAttemptAt) : null,
  deliveredAt: state.status === 'delivered' ? state.deliveredAt : null,
  createdAt: state.createdAt,
  updatedAt: state.updatedAt,
  payload: JSON.parse(state.delivery.body) as unknown,
});

/** One shape for creation (`secret` added, times left out by the route) and the list. */
export const endpointView = (endpoint: Endpoint) => ({
  id: PREFIX.endpoint + endpoint.endpointId,
  url: endpoint.url,
  events: endpoint.events,
  status: 'ACTIVE' as const,
});
