// Webhook endpoint as the interface shows it, and its health (rule W6).
import type { Timestamp } from '../kernel/time.ts';
import { type Endpoint, type ExistingEndpoint, WEBHOOK_ENDPOINT } from '../webhookEndpoint/webhookEndpoint.ts';

type EndpointStatus = 'ACTIVE' | 'INACTIVE';
export const ENDPOINT_STATUSES: readonly EndpointStatus[] = ['ACTIVE', 'INACTIVE'];

/** The state of an endpoint by the status that the interface names. */
export const ENDPOINT_STATE = { ACTIVE: 'active', INACTIVE: 'inactive' } as const;

/** One shape for creation (`secret` added by the route), change and the list (health and times added). */
export const endpointView = (endpoint: Endpoint & Pick<ExistingEndpoint, 'status'>) => ({
  id: WEBHOOK_ENDPOINT.idPrefix + endpoint.endpointId,
  url: endpoint.url,
  events: endpoint.events,
  status: endpoint.status === 'active' ? ('ACTIVE' as const) : ('INACTIVE' as const),
});

export const HEALTH_STATES = ['healthy', 'failing'] as const;

/** What is known of an endpoint that keeps failing. */
export interface EndpointFailures {
  /** Account time of the first failure in a row. */
  readonly failingSince: Timestamp;
  readonly lastError: string;
  /** First attempts that are held back. */
  readonly waiting: number;
}

/** `failures`: null when the endpoint does not keep failing. */
export const endpointHealth = (failures: EndpointFailures | null) =>
  failures === null
    ? { state: 'healthy' as const, failingSince: null, lastError: null, waiting: 0 }
    : {
        state: 'failing' as const,
        failingSince: failures.failingSince,
        lastError: failures.lastError,
        waiting: failures.waiting,
      };
