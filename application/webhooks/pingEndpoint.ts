// POST /v1/webhooks/endpoints/{id}/ping: sends one signed request, so that a merchant can test the receiver and its signature check. A ping
// is not a delivery: it appears in no list and doesn't affect the endpoint's health.
import { type EndpointId, type EventId, idIn, type Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PING, pingBody } from '../../domain/presentation/ping.ts';
import { ownedBy, WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { Clock } from '../ports/clock.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { AttemptOutcome, WebhookSender } from '../ports/webhookSender.ts';
import { endpointSecret } from './signingSecrets.ts';
import { signatureHeaders } from './webhookSignature.ts';

interface Needs extends UseCaseNeeds {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly secrets: WebhookSecrets;
  readonly sender: WebhookSender;
}

/**
 * Sends a ping to an endpoint of the tenant, active or not, under the sender's rules and its deadline of 30 s. Returns the outcome. Rejects
 * with `not_found`.
 */
export const pingEndpoint =
  ({ commands, accounts, clock, randomness, secrets, sender }: Needs) =>
  async (tenant: Tenant, endpointId: EndpointId): Promise<AttemptOutcome | Rejection> => {
    const { state } = await commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(endpointId));
    const endpoint = ownedBy(state, tenant);
    if (isRejection(endpoint)) return endpoint;
    const { accountId: account, mode } = tenant;
    const id = `ping_${idIn<EventId>(account, randomness.bytes(16))}`;
    const body = pingBody(id, endpointId, await accounts.now(account, mode));
    const secret = await endpointSecret(secrets, endpoint);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-acme-event-type': PING,
      ...signatureHeaders({ secret, body, family: 'canonical', id, atMs: clock.now() }),
    };
    return sender.send({ url: endpoint.url, headers, body, mode, account });
  };
