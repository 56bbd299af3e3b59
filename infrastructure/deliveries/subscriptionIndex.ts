// The webhook endpoints of each account and mode with their event types, and the accounts and modes whose payments may have their own
// webhookUrl. The index is as of the position up to which the process webhookFanOut has reacted. It is in memory while that process
// leads, and in tables that its checkpoint covers (architecture §7).
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { ProcessMemory } from '../../application/ports/processManager.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Subscriptions } from '../../application/ports/subscriptions.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import {
  type EndpointChange,
  WEBHOOK_ENDPOINT,
  type WebhookEndpointEvent,
} from '../../domain/webhookEndpoint/webhookEndpoint.ts';

interface Endpoint {
  readonly endpointId: string;
  readonly events: readonly string[];
  readonly isActive: boolean;
}

const NONE: readonly Endpoint[] = [];
const tenantOf = (account: string, mode: string): string => `${account} ${mode}`;

export class SubscriptionIndex implements ProcessMemory, Subscriptions {
  readonly #byTenant = new Map<string, Endpoint[]>();
  readonly #tenantOf = new Map<string, string>();
  readonly #withUrls = new Set<string>();

  readonly endpoints = (account: AccountId, mode: Mode): readonly Endpoint[] =>
    this.#byTenant.get(tenantOf(account, mode))?.filter(({ isActive }) => isActive) ?? NONE;

  readonly hasWebhookUrls = (account: AccountId, mode: Mode): boolean => this.#withUrls.has(tenantOf(account, mode));

  async load(db: Sql): Promise<void> {
    this.#byTenant.clear();
    this.#tenantOf.clear();
    this.#withUrls.clear();
    type Row = { endpoint_id: string; account_id: string; mode: string; events: string[]; is_active: boolean };
    const { rows } = await db.query<Row>(
      'SELECT endpoint_id, account_id, mode, events, is_active FROM operations.webhook_subscriptions ORDER BY endpoint_id',
    );
    for (const { endpoint_id: endpointId, account_id: account, mode, events, is_active: isActive } of rows)
      this.#add(tenantOf(account, mode), { endpointId, events, isActive });
    const urls = await db.query<{ account_id: string; mode: string }>(
      'SELECT account_id, mode FROM operations.tenants_with_webhook_urls',
    );
    for (const row of urls.rows) this.#withUrls.add(tenantOf(row.account_id, row.mode));
  }

  take(logged: LoggedEvent, tx: Sql): Promise<void> | null {
    if (isOf(logged, WEBHOOK_ENDPOINT)) return this.#takeEndpoint(logged, logged.event, tx);
    if (!isOf(logged, PAYMENT)) return null;
    const { event, account, mode } = logged;
    // Only the first event of a payment's stream holds its webhookUrl.
    const hasUrl = event.type === 'ChargeCreated' && event.data.webhookUrl !== null;
    return hasUrl && !this.hasWebhookUrls(account, mode) ? this.#takeUrl(account, mode, tx) : null;
  }

  #takeEndpoint({ account, mode, subject }: LoggedEvent, event: WebhookEndpointEvent, tx: Sql): Promise<void> {
    switch (event.type) {
      case 'WebhookEndpointRegistered':
        return this.#register(
          tenantOf(account, mode),
          { endpointId: subject, events: event.data.events, isActive: true },
          account,
          mode,
          tx,
        );
      case 'WebhookEndpointChanged':
        return this.#change(subject, event.data, tx);
      // The signer reads the version from the endpoint's stream.
      case 'WebhookEndpointSecretRotated':
        return Promise.resolve();
      case 'WebhookEndpointDeleted':
        return this.#delete(subject, tx);
      default:
        return event satisfies never;
    }
  }

  async #register(tenant: string, endpoint: Endpoint, account: AccountId, mode: Mode, tx: Sql): Promise<void> {
    await tx.query(
      `INSERT INTO operations.webhook_subscriptions (endpoint_id, account_id, mode, events) VALUES ($1, $2, $3, $4)
       ON CONFLICT (endpoint_id) DO NOTHING`,
      [endpoint.endpointId, account, mode, endpoint.events],
    );
    this.#add(tenant, endpoint);
  }

  async #change(endpointId: string, { events, status }: EndpointChange, tx: Sql): Promise<void> {
    const tenant = this.#tenantOf.get(endpointId);
    const known = this.#byTenant.get(tenant ?? '')?.find((endpoint) => endpoint.endpointId === endpointId);
    if (tenant === undefined || known === undefined) return;
    const isActive = status === null ? known.isActive : status === 'active';
    const changed: Endpoint = { endpointId, events: events ?? known.events, isActive };
    await tx.query('UPDATE operations.webhook_subscriptions SET events = $2, is_active = $3 WHERE endpoint_id = $1', [
      endpointId,
      changed.events,
      changed.isActive,
    ]);
    this.#add(tenant, changed);
  }

  async #delete(endpointId: string, tx: Sql): Promise<void> {
    await tx.query('DELETE FROM operations.webhook_subscriptions WHERE endpoint_id = $1', [endpointId]);
    this.#remove(endpointId);
  }

  /** Writes one row per account and mode, even if many of its payments have a URL. */
  async #takeUrl(account: AccountId, mode: Mode, tx: Sql): Promise<void> {
    await tx.query(
      'INSERT INTO operations.tenants_with_webhook_urls (account_id, mode) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [account, mode],
    );
    this.#withUrls.add(tenantOf(account, mode));
  }

  #add(tenant: string, endpoint: Endpoint): void {
    this.#remove(endpoint.endpointId);
    const endpoints = this.#byTenant.get(tenant) ?? [];
    endpoints.push(endpoint);
    this.#byTenant.set(tenant, endpoints);
    this.#tenantOf.set(endpoint.endpointId, tenant);
  }

  #remove(endpointId: string): void {
    const tenant = this.#tenantOf.get(endpointId);
    if (tenant === undefined) return;
    const left = (this.#byTenant.get(tenant) ?? []).filter((endpoint) => endpoint.endpointId !== endpointId);
    this.#byTenant.set(tenant, left);
    this.#tenantOf.delete(endpointId);
  }
}
