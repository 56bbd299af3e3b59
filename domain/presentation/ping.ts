// The body of a ping: the canonical envelope around the endpoint's id, so that event handlers can parse it. A ping is not an event: it is
// not in the catalogue, and its id starts with `ping_`.

import type { EndpointId } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import { WEBHOOK_ENDPOINT } from '../webhookEndpoint/webhookEndpoint.ts';
import { API_VERSION } from './envelope.ts';

export const PING = 'ping';

/** Returns the exact JSON text to send. `at` is account time. */
export const pingBody = (id: string, endpointId: EndpointId, at: Timestamp): string =>
  JSON.stringify({
    id,
    object: PING,
    api_version: API_VERSION,
    type: PING,
    created_at: at,
    data: { object: { id: WEBHOOK_ENDPOINT.idPrefix + endpointId, object: 'webhook_endpoint' } },
  });
