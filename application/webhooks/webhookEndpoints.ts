// Registering and deleting webhook endpoints (contract.md Webhook management, rules W5, W6).

import { streamName } from '../../domain/kernel/event.ts';
import { type EndpointId, encodeRawId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { isCatalogued } from '../../domain/presentation/catalogue.ts';
import { deleteEndpoint, type Endpoint, registerEndpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../core/accounts.ts';
import { WEBHOOK_ENDPOINT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { EndpointReads } from '../ports/readModels/webhookEndpoints.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import type { WebhookSender } from '../ports/webhookSender.ts';

export const ENDPOINTS_MAX = 16;

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
  readonly sender: WebhookSender;
  readonly randomness: Randomness;
  readonly endpoints: Pick<EndpointReads, 'count'>;
  readonly withTenantLock: WithTenantLock;
}

/** Order of checks: url, events, number of endpoints. */
export const registerWebhookEndpoint =
  ({ commands, accounts, secrets, sender, randomness, endpoints, withTenantLock }: Needs) =>
  async (
    tenant: Tenant,
    { url, events }: { url: string; events: readonly string[] },
    caller: Actor,
  ): Promise<(Endpoint & { secret: string }) | Rejection> => {
    const verdict = sender.judgeUrl(url, tenant.mode);
    if (verdict !== null) return reject('invalid_url', verdict.message, { param: 'url' });
    const unknown = events.filter((event) => event !== '*' && !isCatalogued(event));
    if (unknown.length > 0)
      return reject('invalid_event', `There is no event ${unknown[0]}. GET /v1/webhooks/event-catalog lists them.`, {
        param: 'events',
      });
    return withTenantLock(tenant, 'endpoints', async () => {
      if ((await endpoints.count(tenant)) >= ENDPOINTS_MAX)
        return reject(
          'endpoint_limit_reached',
          `An account has at most ${ENDPOINTS_MAX} webhook endpoints in each mode.`,
        );
      const endpointId = encodeRawId(randomness.bytes(16)) as EndpointId;
      // Before the event that names its version: an endpoint without a secret could never be signed for.
      const secret = await secrets.keep(endpointId, 1, randomness.bytes(32).toString('hex'));
      const endpoint: Endpoint = { endpointId, ...tenant, url, events: [...new Set(events)], secretVersion: 1 };
      const at = await accounts.now(tenant.accountId, tenant.mode);
      const done = await commands.execute(
        WEBHOOK_ENDPOINT,
        streamName.webhookEndpoint(endpointId),
        registerEndpoint(endpoint, at),
        metadataForRequest(caller, tenant, endpointId),
        { creates: true },
      );
      return isRejection(done) ? done : { ...endpoint, secret };
    });
  };

export const deleteWebhookEndpoint =
  ({ commands, accounts }: Pick<Needs, 'commands' | 'accounts'>) =>
  async (tenant: Tenant, endpointId: EndpointId, caller: Actor): Promise<Rejection | null> => {
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const done = await commands.execute(
      WEBHOOK_ENDPOINT,
      streamName.webhookEndpoint(endpointId),
      deleteEndpoint(tenant, at),
      metadataForRequest(caller, tenant, endpointId),
    );
    return isRejection(done) ? done : null;
  };
