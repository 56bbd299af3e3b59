// One merchant's payments over HTTP in test mode, and the sandbox acquirers' actions on them.
import { expect } from 'chai';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { newKey, type Reply, type TestGateway, type TestTenant } from './gateway.ts';
import { expectError, paramsOf } from './http.ts';
import type { Body } from './merchant.ts';
import { pollUntil } from './pollUntil.ts';
import type { Hit, Receiver } from './receiver.ts';
import { typeOf } from './receiver.ts';

export interface Payment extends Body {
  readonly id: string;
  readonly status: string;
  readonly paidWith: string | null;
}
export const PHONE = '+351912345678';

/** A request body for each payment method, in a currency that it supports. */
export const ORDERS: { readonly [method: string]: Body } = {
  PIX: { amount: 10_000, paymentMethods: ['PIX'] },
  CREDIT_CARD: { amount: 10_000, paymentMethods: ['CREDIT_CARD'] },
  MBWAY: { amount: 10_000, currency: 'EUR', paymentMethods: ['MBWAY'], metadata: { phone: PHONE } },
  MULTIBANCO: { amount: 10_000, currency: 'EUR', paymentMethods: ['MULTIBANCO'] },
  BOLETO: { amount: 10_000, paymentMethods: ['BOLETO'] },
  CRYPTO: { amount: 10_000, currency: 'USDT', paymentMethods: ['CRYPTO'] },
};

type Act = 'authorize' | 'refuse' | 'processing' | 'chargeback' | 'dispute';

export class PaymentDesk {
  readonly tenant: TestTenant;
  readonly as: { readonly key: string };
  readonly #gateway: TestGateway;

  constructor(gateway: TestGateway, tenant: TestTenant) {
    this.#gateway = gateway;
    this.tenant = tenant;
    this.as = { key: tenant.testKey };
  }

  static async open(gateway: TestGateway): Promise<PaymentDesk> {
    return new PaymentDesk(gateway, await gateway.newTenant());
  }

  /** Sends all webhooks of this account to the receiver, at a path of their own. */
  async listen(receiver: Receiver): Promise<void> {
    const url = `${receiver.url}/${this.tenant.accountId}`;
    const { status, text } = await this.#gateway.post('/v1/webhooks/endpoints', { url, events: ['*'] }, this.as);
    expect(status, text).to.equal(201);
  }
  hits(receiver: Receiver): readonly Hit[] {
    return receiver.got.filter(({ path }) => path.endsWith(this.tenant.accountId));
  }
  /** Waits until no delivery is in progress. Returns the sorted types of all webhooks so far. */
  async told(receiver: Receiver): Promise<readonly string[]> {
    const { body, text } = await this.#gateway.post('/v1/sandbox/deliveries/flush', {}, this.as);
    expect(body, text).to.deep.equal({ pending: 0 });
    return this.hits(receiver).map(typeOf).sort();
  }

  ask(body: unknown): Promise<Reply<Payment>> {
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    return this.#gateway.post<Payment>('/v1/payments', undefined, { raw, headers, ...this.as });
  }
  /** Creates a payment with a new idempotency key. */
  async create(body: Body): Promise<Payment> {
    const reply = await this.ask({ idempotencyKey: newKey(), ...body });
    expect([reply.status, reply.headers.get('idempotent-replayed')], reply.text).to.deep.equal([201, null]);
    return reply.body;
  }
  /** Expects a rejection with this code, and no new payment (K5). */
  async refuses(
    body: unknown,
    code: ErrorCode,
    param: string | undefined,
    params: readonly string[] = param ? [param] : [],
  ) {
    const before = await this.#creations();
    expect(paramsOf(expectError(await this.ask(body), 400, code, param))).to.deep.equal(params);
    expect(await this.#creations()).to.equal(before);
  }

  /** Returns the number of payments created in the whole gateway. */
  async #creations(): Promise<number> {
    const text = `SELECT count(*)::int AS count FROM event_store.events WHERE type = 'ChargeCreated'`;
    return (await this.#gateway.storage.reads.query<{ count: number }>(text)).rows[0]!.count;
  }

  async read(id: string): Promise<Payment> {
    const { status, body, text } = await this.#gateway.get<Payment>(`/v1/payments/${id}`, this.as);
    expect(status, text).to.equal(200);
    return body;
  }
  /** Returns the payment once it has one of these statuses. Rejects after 20 s. */
  async until(id: string, ...statuses: readonly string[]): Promise<Payment> {
    const look = async () => {
      const seen = await this.read(id);
      return statuses.includes(seen.status) ? seen : null;
    };
    const found = await pollUntil(this.#gateway.gateway.projected, 20_000, look);
    if (found === null) throw new Error(`not within 20 s: ${JSON.stringify(await this.read(id))}`);
    return found;
  }
  /** Creates a payment, waits until it can be paid, and returns its id. */
  async waiting(body: Body): Promise<string> {
    const { id } = await this.create(body);
    return (await this.until(id, 'WAITING_PAYMENT')).id;
  }

  try(id: string, act: Act, body: Body = {}): Promise<Reply<Payment>> {
    return this.#gateway.post<Payment>(`/v1/sandbox/payments/${id}/${act}`, body, this.as);
  }
  /** Performs an action and expects `status`, both in the response and in a read after it. */
  async act(id: string, act: Act, status: string, body: Body = {}): Promise<Payment> {
    const reply = await this.try(id, act, body);
    expect([reply.status, reply.body.status], reply.text).to.deep.equal([200, status]);
    expect(await this.read(id)).to.deep.equal(reply.body);
    return reply.body;
  }

  async wallet(currency: string): Promise<Body> {
    return (await this.#gateway.get(`/v1/wallets/balance?currency=${currency}`, this.as)).body;
  }
  async advance(seconds: number): Promise<void> {
    const { status, text } = await this.#gateway.post('/v1/sandbox/clock/advance', { seconds }, this.as);
    expect(status, text).to.equal(200);
  }
}
