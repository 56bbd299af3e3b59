// Who wants webhooks of a tenant's payments, as of the point of the log up to which its process has reacted: in memory while that leads, in
// tables under its checkpoint (architecture §7).
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Subscriptions } from '../../application/ports/processManager.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { WebhookEndpointEvent } from '../../domain/webhookEndpoint/webhookEndpoint.ts';

type Endpoint = ReturnType<Subscriptions['endpoints']>[number];

const NONE: readonly Endpoint[] = [];
const tenantOf = (account: string, mode: string): string => `${account} ${mode}`;

export class SubscriptionIndex implements Subscriptions {
  readonly #byTenant = new Map<string, Endpoint[]>();
  readonly #tenantOf = new Map<string, string>();
  readonly #withUrls = new Set<string>();

  readonly endpoints = (account: AccountId, mode: Mode): readonly Endpoint[] =>
    this.#byTenant.get(tenantOf(account, mode)) ?? NONE;

  readonly hasWebhookUrls = (account: AccountId, mode: Mode): boolean => this.#withUrls.has(tenantOf(account, mode));

  /** Reads what is stored: what it held in memory may be wrong. */
  async load(db: Sql): Promise<void> {
    this.#byTenant.clear();
    this.#tenantOf.clear();
    this.#withUrls.clear();
    const { rows } = await db.query<{ endpoint_id: string; account_id: string; mode: string; events: string[] }>(
      'SELECT endpoint_id, account_id, mode, events FROM operations.fan_out_endpoints ORDER BY endpoint_id',
    );
    for (const row of rows)
      this.#add(tenantOf(row.account_id, row.mode), { endpointId: row.endpoint_id, events: row.events });
    const urls = await db.query<{ account_id: string; mode: string }>(
      'SELECT account_id, mode FROM operations.fan_out_webhook_urls',
    );
    for (const row of urls.rows) this.#withUrls.add(tenantOf(row.account_id, row.mode));
  }

  /** Takes an event, in the transaction that moves the checkpoint. */
  async take(logged: LoggedEvent, tx: Sql): Promise<void> {
    if (isOf(logged, 'payment')) {
      const { event, account, mode } = logged;
      // Of a payment's stream, its first event alone says where its messages go.
      if (event.type === 'ChargeCreated' && event.data.webhookUrl !== null) await this.#takeUrl(account, mode, tx);
    }
    if (isOf(logged, 'webhookEndpoint')) await this.#takeEndpoint(logged, logged.event, tx);
  }

  #takeEndpoint({ account, mode, subject }: LoggedEvent, event: WebhookEndpointEvent, tx: Sql): Promise<void> {
    switch (event.type) {
      case 'WebhookEndpointRegistered':
        return this.#register(
          tenantOf(account, mode),
          { endpointId: subject, events: event.data.events },
          account,
          mode,
          tx,
        );
      case 'WebhookEndpointDeleted':
        return this.#delete(subject, tx);
      default:
        return event satisfies never;
    }
  }

  async #register(tenant: string, endpoint: Endpoint, account: AccountId, mode: Mode, tx: Sql): Promise<void> {
    await tx.query(
      `INSERT INTO operations.fan_out_endpoints (endpoint_id, account_id, mode, events) VALUES ($1, $2, $3, $4)
       ON CONFLICT (endpoint_id) DO NOTHING`,
      [endpoint.endpointId, account, mode, endpoint.events],
    );
    this.#add(tenant, endpoint);
  }

  async #delete(endpointId: string, tx: Sql): Promise<void> {
    await tx.query('DELETE FROM operations.fan_out_endpoints WHERE endpoint_id = $1', [endpointId]);
    this.#remove(endpointId);
  }

  /** Written once for an account and mode. */
  async #takeUrl(account: AccountId, mode: Mode, tx: Sql): Promise<void> {
    if (this.hasWebhookUrls(account, mode)) return;
    await tx.query(
      'INSERT INTO operations.fan_out_webhook_urls (account_id, mode) VALUES ($1, $2) ON CONFLICT DO NOTHING',
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
