// Read models of webhooks: endpoints, and deliveries to them.

import { deliveryStatus } from '../../domain/presentation/delivery.ts';
import { targetOf, type WebhookDeliveryState, webhookDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { type WebhookEndpointState, webhookEndpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

export const webhookEndpointsProjection = aggregateTable<'webhookEndpoint', WebhookEndpointState>({
  name: 'webhookEndpoints',
  version: 1,
  category: 'webhookEndpoint',
  decider: webhookEndpoint,
  table: 'endpoints',
  columns: [
    { name: 'status', type: 'text', of: ({ status }) => status },
    { name: 'created_at', type: 'timestamptz', of: (state) => (state.status === 'absent' ? null : state.createdAt) },
  ],
  indexes: [{ columns: 'account_id, mode, created_at' }],
});

export const webhookDeliveriesProjection = aggregateTable<'webhookDelivery', WebhookDeliveryState>({
  name: 'webhookDeliveries',
  version: 2,
  category: 'webhookDelivery',
  decider: webhookDelivery,
  table: 'deliveries',
  columns: [
    {
      name: 'endpoint_id',
      type: 'text',
      of: (state) => (state.status === 'absent' ? null : state.delivery.endpointId),
    },
    { name: 'target', type: 'text', of: (state) => (state.status === 'absent' ? null : targetOf(state.delivery)) },
    { name: 'event_type', type: 'text', of: (state) => (state.status === 'absent' ? null : state.delivery.eventType) },
    { name: 'status', type: 'text', of: (state) => (state.status === 'absent' ? null : deliveryStatus(state)) },
    { name: 'created_at', type: 'timestamptz', of: (state) => (state.status === 'absent' ? null : state.createdAt) },
    {
      name: 'next_attempt_at',
      type: 'timestamptz',
      of: (state) => (state.status === 'pending' ? state.nextAttemptAt : null),
    },
  ],
  indexes: [
    { columns: 'account_id, mode, created_at DESC, id' },
    { columns: 'account_id, mode, next_attempt_at', where: 'next_attempt_at IS NOT NULL' },
  ],
});
