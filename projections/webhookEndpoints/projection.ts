// Read model of webhook endpoints.
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
