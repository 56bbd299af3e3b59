// The endpoints, and who has payments with a webhookUrl of their own, as of the fan-out's own point of the log: in memory while it
// leads, in tables under its checkpoint (architecture §7).
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { ReactionContext } from '../../application/ports/processManager.ts';
import type { Sql } from '../../application/ports/sql.ts';

type Known = ReturnType<ReactionContext['endpoints']>[number];

const NONE: readonly Known[] = [];

export class EndpointBook {
  readonly #byTenant = new Map<string, Known[]>();
  readonly #tenantOf = new Map<string, string>();
  readonly #withUrls = new Set<string>();

  of(account: string, mode: string): readonly Known[] {
    return this.#byTenant.get(`${account} ${mode}`) ?? NONE;
  }

  hasWebhookUrls(account: string, mode: string): boolean {
    return this.#withUrls.has(`${account} ${mode}`);
  }

  async load(db: Sql): Promise<void> {
    this.#byTenant.clear();
    this.#tenantOf.clear();
    this.#withUrls.clear();
    const { rows } = await db.query<{ endpoint_id: string; account_id: string; mode: string; events: string[] }>(
      'SELECT endpoint_id, account_id, mode, events FROM operations.fan_out_endpoints ORDER BY endpoint_id',
    );
    for (const row of rows)
      this.#add(`${row.account_id} ${row.mode}`, { endpointId: row.endpoint_id, events: row.events });
    const urls = await db.query<{ account_id: string; mode: string }>(
      'SELECT account_id, mode FROM operations.fan_out_webhook_urls',
    );
    for (const row of urls.rows) this.#withUrls.add(`${row.account_id} ${row.mode}`);
  }

  async take(logged: LoggedEvent, tx: Sql): Promise<void> {
    if (isOf(logged, 'payment')) {
      const { event, account, mode } = logged;
      if (event.type === 'ChargeCreated' && event.data.webhookUrl !== null) await this.#takeUrl(account, mode, tx);
    }
    if (!isOf(logged, 'webhookEndpoint')) return;
    const { event, account, mode, subject } = logged;
    if (event.type === 'WebhookEndpointRegistered') {
      const { events } = event.data;
      await tx.query(
        `INSERT INTO operations.fan_out_endpoints (endpoint_id, account_id, mode, events) VALUES ($1, $2, $3, $4) ON CONFLICT (endpoint_id) DO NOTHING`,
        [subject, account, mode, events],
      );
      this.#add(`${account} ${mode}`, { endpointId: subject, events });
    } else {
      await tx.query('DELETE FROM operations.fan_out_endpoints WHERE endpoint_id = $1', [subject]);
      this.#remove(subject);
    }
  }

  /** Written once for an account and mode. */
  async #takeUrl(account: string, mode: string, tx: Sql): Promise<void> {
    if (this.hasWebhookUrls(account, mode)) return;
    await tx.query(
      'INSERT INTO operations.fan_out_webhook_urls (account_id, mode) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [account, mode],
    );
    this.#withUrls.add(`${account} ${mode}`);
  }

  #add(tenant: string, endpoint: Known): void {
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
