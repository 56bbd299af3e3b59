// Registers, changes, pings and deletes webhook endpoints, and rotates their secrets (contract.md Webhook management, rules W5, W6).

import { type EndpointId, type EventId, idIn, type Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject, SECRET_MADE_BEFORE } from '../../domain/kernel/rejection.ts';
import { unknownEventIn } from '../../domain/presentation/catalogue.ts';
import { PING, pingBody } from '../../domain/presentation/ping.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  type Endpoint,
  type EndpointChange,
  type ExistingEndpoint,
  ownedBy,
  registerEndpoint,
  rotateEndpointSecret,
  WEBHOOK_ENDPOINT,
} from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { createdIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { EndpointReads } from '../ports/readModels/views.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Clock, Randomness } from '../ports/system.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../ports/webhookSender.ts';
import { endpointSecret, keepSecret, rotateSecret } from './signingSecrets.ts';
import { signatureHeaders } from './webhookSignature.ts';

// --- Ping: one signed request, so that a merchant can test the receiver and its signature check. It is not a delivery: it appears in no
// list and doesn't affect the endpoint's health. ---

interface PingNeeds extends UseCaseNeeds {
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
  (needs: PingNeeds) =>
  async (tenant: Tenant, endpointId: EndpointId): Promise<AttemptOutcome | Rejection> => {
    const { commands, accounts, clock, randomness, secrets, sender } = needs;
    const { accountId: account, mode } = tenant;
    const load = async () =>
      ownedBy((await commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(endpointId))).state, tenant);
    const endpoint = await load();
    if (isRejection(endpoint)) return endpoint;
    const to = { url: endpoint.url, mode, account, isPing: true };
    const requestOf = async (): Promise<WebhookRequest | null> => {
      const present = await load();
      if (isRejection(present) || present.url !== to.url) return null;
      const id = `ping_${idIn<EventId>(account, randomness.bytes(16))}`;
      const body = pingBody(id, endpointId, await accounts.now(account, mode));
      const secret = await endpointSecret(secrets, present);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'x-acme-event-type': PING,
        ...signatureHeaders({ secret, body, family: 'canonical', id, atMs: clock.now() }),
      };
      return { ...to, headers, body };
    };
    // The endpoint was deleted or moved to another URL before the ping began.
    return (await sender.sendInTurn(requestOf)) ?? pingEndpoint(needs)(tenant, endpointId);
  };

/** Maximum number of endpoints per account and mode, including inactive ones. */
const ENDPOINTS_MAX = 16;

interface Needs extends UseCaseNeeds {
  readonly secrets: WebhookSecrets;
  readonly sender: WebhookSender;
  readonly randomness: Randomness;
  readonly endpoints: Pick<EndpointReads, 'count'>;
  readonly withTenantLock: WithTenantLock;
}

const urlRefused = (sender: WebhookSender, url: string, { mode }: Tenant): Rejection | null => {
  const verdict = sender.judgeUrl(url, mode);
  return verdict === null ? null : reject('invalid_url', verdict.message, { param: 'url' });
};

const eventsRefused = (events: readonly string[]): Rejection | null => {
  const unknown = unknownEventIn(events);
  if (unknown === undefined) return null;
  const message = `Unknown event ${unknown}. GET /v1/webhooks/event-catalog lists all events.`;
  return reject('invalid_event', message, { param: 'events' });
};

const withoutRepeats = (events: readonly string[]): readonly string[] => [...new Set(events)];

/**
 * Registers an endpoint and returns it with its secret, 64 hex characters. `key`: names the form, which registers one endpoint. Rejects, in
 * this order, with `invalid_url`, `invalid_event`, `endpoint_limit_reached` and, for a key that was used before, `invalid_request`.
 */
export const registerWebhookEndpoint =
  ({ commands, accounts, secrets, sender, randomness, endpoints, withTenantLock }: Needs) =>
  async (
    tenant: Tenant,
    { url, events }: { url: string; events: readonly string[] },
    caller: Actor,
    key: string | null = null,
  ): Promise<(Endpoint & { secret: string }) | Rejection> => {
    const refused = urlRefused(sender, url, tenant) ?? eventsRefused(events);
    if (refused !== null) return refused;
    return withTenantLock(tenant, 'endpoints', async () => {
      if ((await endpoints.count(tenant)) >= ENDPOINTS_MAX)
        return reject(
          'endpoint_limit_reached',
          `An account has at most ${ENDPOINTS_MAX} webhook endpoints in each mode.`,
        );
      const endpointId =
        key === null
          ? idIn<EndpointId>(tenant.accountId, randomness.bytes(16))
          : createdIdOf<EndpointId>(await accounts.get(tenant.accountId), tenant.mode, 'endpoints.create', key);
      // Stored before the event that names its version, because an endpoint without a secret couldn't get signed messages.
      const secret = await keepSecret({ secrets, randomness }, endpointId, 1);
      const endpoint: Endpoint = { endpointId, ...tenant, url, events: withoutRepeats(events), secretVersion: 1 };
      const at = await accounts.now(tenant.accountId, tenant.mode);
      const done = await commands.execute(
        WEBHOOK_ENDPOINT,
        WEBHOOK_ENDPOINT.stream(endpointId),
        registerEndpoint(endpoint, at),
        metadataForRequest(caller, tenant, endpointId),
        { creates: true },
      );
      if (isRejection(done)) return done;
      return done.appended === 0 ? SECRET_MADE_BEFORE : { ...endpoint, secret };
    });
  };

/**
 * Changes an endpoint of the tenant and returns it. Fields that are null in `wish` stay unchanged. Rejects, in this order, with
 * `invalid_url`, `invalid_event` and `not_found`. After a change of url or status, waiting deliveries are attempted at once (W3).
 */
export const changeWebhookEndpoint =
  ({ commands, accounts, sender }: Pick<Needs, 'commands' | 'accounts' | 'sender'>) =>
  async (
    tenant: Tenant,
    endpointId: EndpointId,
    wish: EndpointChange,
    caller: Actor,
  ): Promise<ExistingEndpoint | Rejection> => {
    const { url, events } = wish;
    const refused =
      (url === null ? null : urlRefused(sender, url, tenant)) ?? (events === null ? null : eventsRefused(events));
    if (refused !== null) return refused;
    const change: EndpointChange = { ...wish, events: events === null ? null : withoutRepeats(events) };
    const done = await commands.execute(
      WEBHOOK_ENDPOINT,
      WEBHOOK_ENDPOINT.stream(endpointId),
      changeEndpoint(tenant, change, await accounts.now(tenant.accountId, tenant.mode)),
      metadataForRequest(caller, tenant, endpointId),
      { isLimited: true },
    );
    return isRejection(done) ? done : ownedBy(done.state, tenant);
  };

/**
 * Replaces the secret of an endpoint of the tenant and returns the new one, 64 hex characters. `seen`: the secret's version that the user
 * saw, so that a form sent twice rotates once; null for any. Rejects, in this order, with `not_found` and, if the secret was replaced
 * since, `invalid_request`.
 */
export const rotateWebhookSecret =
  (needs: Pick<Needs, 'commands' | 'accounts' | 'secrets' | 'randomness'>) =>
  async (
    tenant: Tenant,
    endpointId: EndpointId,
    caller: Actor,
    seen: number | null = null,
  ): Promise<string | Rejection> => {
    const { commands, accounts, secrets } = needs;
    const stream = WEBHOOK_ENDPOINT.stream(endpointId);
    const metadata = metadataForRequest(caller, tenant, endpointId);
    return rotateSecret(needs, {
      id: endpointId,
      nextVersion: async () => {
        const endpoint = ownedBy((await commands.load(WEBHOOK_ENDPOINT, stream)).state, tenant);
        if (isRejection(endpoint)) return endpoint;
        return seen === null || seen === endpoint.secretVersion ? endpoint.secretVersion + 1 : SECRET_MADE_BEFORE;
      },
      record: async (version) => {
        const decide = rotateEndpointSecret(tenant, version, await accounts.now(tenant.accountId, tenant.mode));
        const done = await commands.execute(WEBHOOK_ENDPOINT, stream, decide, metadata, { isLimited: true });
        if (!isRejection(done)) return done.reply;
        // The endpoint was deleted since its version was read, and the new secret may have been stored after the others were deleted.
        if (done.code === 'not_found') await secrets.forget([endpointId]);
        return done;
      },
    });
  };

/**
 * Deletes an endpoint of the tenant with its secrets, and returns null. The process webhookDelivery cancels its pending deliveries, and
 * deletes the secrets if this process is killed before it has.
 */
export const deleteWebhookEndpoint =
  ({ commands, accounts, secrets }: Pick<Needs, 'commands' | 'accounts' | 'secrets'>) =>
  async (tenant: Tenant, endpointId: EndpointId, caller: Actor): Promise<Rejection | null> => {
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const done = await commands.execute(
      WEBHOOK_ENDPOINT,
      WEBHOOK_ENDPOINT.stream(endpointId),
      deleteEndpoint(tenant, at),
      metadataForRequest(caller, tenant, endpointId),
    );
    if (isRejection(done)) return done;
    await secrets.forget([endpointId]);
    return null;
  };
