// One account as its owner uses it over HTTP: charges, the test clock, webhook endpoints and deliveries.

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newApiKey } from '../../application/accounts/manageKeys.ts';
import { openAccountWithKeys } from '../../application/accounts/operateAccounts.ts';
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import { newAccountId } from '../../application/core/derivedIds.ts';
import { ACCOUNT, type AccountSettings, defaultSettings } from '../../domain/account/account.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { systemRandomness } from '../../infrastructure/system/system.ts';
import type { Reply, TestGateway, TestTenant } from './gateway.ts';
import { rawIdOf } from './http.ts';
import { pollUntil } from './pollUntil.ts';

export type Body = Record<string, unknown>;
export interface Endpoint {
  readonly id: string;
  readonly secret: string;
}
export interface Clock {
  readonly now: string;
  readonly offset_seconds: number;
}
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventType: string;
  readonly status: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly lastResponseBody?: string;
  readonly nextRetryAt: string | null;
  readonly deliveredAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly payload: Body;
}
interface DeliveryPage {
  readonly data: readonly Delivery[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}
export class Merchant {
  readonly key: string;
  readonly #gateway: TestGateway;

  constructor(gateway: TestGateway, key: string) {
    this.#gateway = gateway;
    this.key = key;
  }

  /** Opens a new account and returns its merchant in test mode. */
  static async open(gateway: TestGateway): Promise<Merchant & { readonly tenant: TestTenant }> {
    const tenant = await gateway.newTenant();
    return Object.assign(new Merchant(gateway, tenant.testKey), { tenant });
  }

  async charge(body: Body = {}): Promise<{ id: string; createdAt: string; expiresAt: string }> {
    const reply = await this.#gateway.charge(body, this);
    expect(reply.status, reply.text).to.equal(201);
    const {
      id,
      created_at: createdAt,
      pix,
    } = reply.body as { id: string; created_at: string; pix: { expires_at: string } };
    return { id, createdAt, expiresAt: pix.expires_at };
  }
  async pay(id: string): Promise<void> {
    const { status, body, text } = await this.#gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, this);
    expect([status, body['outcome']], text).to.deep.equal([200, 'settled']);
  }
  async statusOf(id: string): Promise<unknown> {
    return (await this.get<Body>(`/v1/charges/${id}`)).body['status'];
  }

  async clock(): Promise<Clock> {
    return (await this.get<Clock>('/v1/sandbox/clock')).body;
  }
  tryAdvance(body: unknown): Promise<Reply<Clock>> {
    return this.#gateway.post<Clock>('/v1/sandbox/clock/advance', body, this);
  }
  async advance(seconds: number): Promise<Clock> {
    const { status, body, text } = await this.tryAdvance({ seconds });
    expect(status, text).to.be.oneOf([200, 202]);
    if (status === 202) await this.#drained(); // on a slow machine the advance continues in the background (X)
    return body;
  }

  async #drained(): Promise<void> {
    const { services } = this.#gateway.gateway;
    const { accountId } = (await services.findKey(this.key))!;
    while (!(await services.whenClockDrained(accountId, 10_000)));
  }

  async register(url: string, events: readonly string[] = ['*']): Promise<Endpoint> {
    const { status, body, text } = await this.#gateway.post<Endpoint>('/v1/webhooks/endpoints', { url, events }, this);
    expect(status, text).to.equal(201);
    return body;
  }
  async delete(endpoint: Endpoint): Promise<void> {
    const path = `/v1/webhooks/endpoints/${endpoint.id}`;
    const { status, body, text } = await this.#gateway.call('DELETE', path, { key: this.key });
    expect([status, body], text).to.deep.equal([200, { deleted: true }]);
  }
  /** Waits until no delivery is in progress, and expects `pending` held deliveries. Failed ones wait for their retry. */
  async flush(pending = 0): Promise<void> {
    expect(await this.flushed()).to.equal(pending);
  }
  /** Waits until no delivery is in progress. Returns the number of held deliveries. */
  async flushed(): Promise<number> {
    const { status, body, text } = await this.#gateway.post('/v1/sandbox/deliveries/flush', {}, this);
    expect([status, Object.keys(body)], text).to.deep.equal([200, ['pending']]);
    return body['pending'] as number;
  }
  async deliveries(query = ''): Promise<DeliveryPage> {
    const { status, body, text } = await this.get<DeliveryPage>(`/v1/webhooks/deliveries${query}`);
    expect(status, text).to.equal(200);
    return body;
  }
  /** Returns the only delivery. */
  async delivery(query = ''): Promise<Delivery> {
    const { data, total } = await this.deliveries(query);
    expect(total).to.equal(1);
    return data[0] as Delivery;
  }
  /** Checks the deliveries whenever the read models advance, until `holds` returns true. Rejects after 20 s. */
  async untilDeliveries(holds: (all: readonly Delivery[]) => boolean): Promise<readonly Delivery[]> {
    const look = async () => {
      const { data } = await this.deliveries();
      return holds(data) ? data : null;
    };
    const found = await pollUntil(this.#gateway.gateway.projected, 20_000, look);
    if (found === null) throw new Error(`not within 20 s: ${JSON.stringify((await this.deliveries()).data)}`);
    return found;
  }

  get<T = Body>(path: string): Promise<Reply<T>> {
    return this.#gateway.get<T>(path, { key: this.key });
  }
}

/** Returns the data of the first event of this type in a charge's stream, or undefined if there is none. */
export const eventOf = async ({ storage }: TestGateway, chargeId: string, type: string): Promise<Body | undefined> => {
  for await (const event of storage.store.readStream(PAYMENT.stream(rawIdOf(chargeId) as PaymentId)))
    if (event.type === type) return JSON.parse(event.data) as Body;
  return undefined;
};

/** Opens an account that holds settled Pix payments for some days. No route can change this setting. */
export const openHolding = async (gateway: TestGateway, days: number): Promise<Merchant> => {
  const accountId = newAccountId(randomBytes(16));
  const idSeed = randomBytes(32).toString('base64');
  const opening = { accountId, name: 'Loja', email: 'loja@example.com', idSeed };
  const defaults = defaultSettings('Loja', DECLARED_SETTINGS.settings);
  const settings: AccountSettings = { ...defaults, holdDays: { ...defaults.holdDays, PIX: days } };
  const at = gateway.gateway.accounts.realNow();
  const actor = 'operator:test';
  const why = { account: accountId, mode: 'live', actor, requestId: null } as const;
  await gateway.gateway.commands.execute(
    ACCOUNT,
    ACCOUNT.stream(accountId),
    () => ({ events: [{ type: 'AccountOpened' as const, data: { ...opening, settings, at } }], reply: 'opened' }),
    { ...why, correlationId: accountId, causationId: accountId },
    { creates: true },
  );
  const cleartext = newApiKey('test', systemRandomness);
  await openAccountWithKeys(gateway.gateway)({
    ...opening,
    actor,
    keys: [{ mode: 'test', cleartext, label: 'test' }],
  });
  return new Merchant(gateway, cleartext);
};
