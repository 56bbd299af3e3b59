// One merchant's refunds over HTTP, and the bank's decisions.
import { expect } from 'chai';
import { newKey, type Reply, type TestGateway } from './gateway.ts';
import { rawIdOf } from './http.ts';
import { type Body, Merchant } from './merchant.ts';
import { pollUntil } from './pollUntil.ts';

export interface Refund {
  readonly id: string;
  readonly transactionId: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly reason: string | null;
  readonly failureReason: string | null;
  readonly createdAt: string;
}

/** Returns the net amount of a Pix payment with the default fees (rule M1): 10 plus 1 %, rounded half up. */
export const netOf = (amount: number): number => amount - 10 - Math.floor((amount * 100 + 5_000) / 10_000);

type TestMerchant = Awaited<ReturnType<typeof Merchant.open>>;

export class RefundDesk {
  readonly merchant: TestMerchant;
  readonly #gateway: TestGateway;

  private constructor(gateway: TestGateway, merchant: TestMerchant) {
    this.#gateway = gateway;
    this.merchant = merchant;
  }

  /** Opens a new account. `auto`: whether the sandbox confirms refunds automatically. */
  static async open(gateway: TestGateway, auto = false): Promise<RefundDesk> {
    const desk = new RefundDesk(gateway, await Merchant.open(gateway));
    if (!auto) await desk.settings({ auto_confirm_refunds: false });
    return desk;
  }

  async settings(body: Body): Promise<Body> {
    const reply = await this.post<Body>('/v1/sandbox/settings', body);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }

  /** Creates and pays a charge, and returns its id. */
  async paid(amount = 1_000, pay: Body = {}): Promise<string> {
    const { id } = await this.merchant.charge({ amount });
    const { status, body, text } = await this.post(`/v1/sandbox/charges/${id}/pay`, pay);
    expect([status, body['outcome']], text).to.deep.equal([200, 'settled']);
    return id;
  }

  /** Creates a payment of 10,000 with one method, pays it, and returns its raw id. */
  async paidBy(method: string, currency = 'BRL', metadata: Body = {}): Promise<string> {
    const body = { amount: 10_000, currency, paymentMethods: [method], metadata, idempotencyKey: newKey() };
    const made = await this.post<{ id: string }>('/v1/payments', body);
    expect(made.status, made.text).to.equal(201);
    const paid = await this.post(`/v1/sandbox/payments/${made.body.id}/authorize`, {});
    expect(paid.status, paid.text).to.equal(200);
    return made.body.id;
  }

  ask<T = Refund>(chargeId: string, body: Body = {}): Promise<Reply<T>> {
    return this.post<T>(`/v1/payments/${rawIdOf(chargeId)}/refund`, { idempotencyKey: newKey(), ...body });
  }
  async refund(chargeId: string, body: Body = {}): Promise<Refund> {
    const reply = await this.ask(chargeId, body);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  }
  async list(chargeId: string): Promise<readonly Refund[]> {
    const reply = await this.merchant.get<{ data: Refund[] }>(`/v1/payments/${rawIdOf(chargeId)}/refunds`);
    expect([reply.status, Object.keys(reply.body)], reply.text).to.deep.equal([200, ['data']]);
    return reply.body.data;
  }
  /** Returns the list once the refunds have these statuses. Rejects after 20 s. */
  async untilStatuses(chargeId: string, ...statuses: readonly string[]): Promise<readonly Refund[]> {
    const look = async () => {
      const data = await this.list(chargeId);
      return data.map(({ status }) => status).join() === statuses.join() ? data : null;
    };
    const found = await pollUntil(this.#gateway.gateway.projected, 20_000, look);
    if (found === null) throw new Error(`not within 20 s: ${JSON.stringify(await this.list(chargeId))}`);
    return found;
  }

  decide<T = Refund>(id: string, how: 'confirm' | 'fail', body: Body = {}): Promise<Reply<T>> {
    return this.post<T>(`/v1/sandbox/refunds/${id}/${how}`, body);
  }
  async ended(id: string, how: 'confirm' | 'fail', body: Body = {}): Promise<Refund> {
    const reply = await this.decide(id, how, body);
    expect([reply.status, reply.body.status], reply.text).to.deep.equal([200, how === 'fail' ? 'FAILED' : 'REFUNDED']);
    return reply.body;
  }

  async available(): Promise<unknown> {
    return (await this.merchant.get<Body>('/v1/wallets/balance')).body['available'];
  }
  async transaction(chargeId: string): Promise<Body> {
    return (await this.merchant.get<Body>(`/v1/payments/${rawIdOf(chargeId)}`)).body;
  }
  post<T = Body>(path: string, body: Body): Promise<Reply<T>> {
    return this.#gateway.post<T>(path, body, { key: this.merchant.key });
  }
}
