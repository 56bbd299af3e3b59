// The public view of a webhook endpoint and its health (rule W6).
import type { Timestamp } from '../kernel/time.ts';
import { type Endpoint, type ExistingEndpoint, WEBHOOK_ENDPOINT } from '../webhookEndpoint/webhookEndpoint.ts';

type EndpointStatus = 'ACTIVE' | 'INACTIVE';
export const ENDPOINT_STATUSES: readonly EndpointStatus[] = ['ACTIVE', 'INACTIVE'];

/** Endpoint states by public status. */
export const ENDPOINT_STATE = { ACTIVE: 'active', INACTIVE: 'inactive' } as const;

/** Returns the common view for creation (the route adds `secret`), change and list (which adds health and times). */
export const endpointView = (endpoint: Endpoint & Pick<ExistingEndpoint, 'status'>) => ({
  id: WEBHOOK_ENDPOINT.idPrefix + endpoint.endpointId,
  url: endpoint.url,
  events: endpoint.events,
  status: endpoint.status === 'active' ? ('ACTIVE' as const) : ('INACTIVE' as const),
});

export const HEALTH_STATES = ['healthy', 'failing'] as const;

/** Failure data of an endpoint that keeps failing. */
export interface EndpointFailures {
  /** Account time of the first of the consecutive failures. */
  readonly failingSince: Timestamp;
  readonly lastError: string;
  /** Number of first attempts that are held back. */
  readonly waiting: number;
}

/** Returns the endpoint's health. `failures` is null if the endpoint does not keep failing. */
export const endpointHealth = (failures: EndpointFailures | null) =>
  failures === null
    ? { state: 'healthy' as const, failingSince: null, lastError: null, waiting: 0 }
    : {
        state: 'failing' as const,
        failingSince: failures.failingSince,
        lastError: failures.lastError,
        waiting: failures.waiting,
      };
