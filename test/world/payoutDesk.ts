// One merchant's payouts over HTTP, and the bank's decisions.
import { expect } from 'chai';
import { newKey, type Reply, type TestGateway, type TestTenant } from './gateway.ts';
import { type Body, Merchant } from './merchant.ts';
import { pollUntil } from './pollUntil.ts';

export interface PayoutBody {
  readonly id: string;
  readonly object: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly method: string;
  readonly destination: string | null;
  readonly refund_id: string | null;
  readonly charge_id: string | null;
  readonly fee: number;
  readonly end_to_end_id: string | null;
  readonly failure_reason: string | null;
  readonly created_at: string;
  readonly paid_at: string | null;
  readonly description: string | null;
  readonly metadata: Body;
  readonly awaiting_approval: boolean;
}

export const PIX_KEY = 'ana@example.com';

export class PayoutDesk {
  readonly merchant: Merchant & { readonly tenant: TestTenant };
  readonly gateway: TestGateway;

  private constructor(gateway: TestGateway, merchant: Merchant & { readonly tenant: TestTenant }) {
    this.gateway = gateway;
    this.merchant = merchant;
  }

  /** Opens a new account with this balance. `auto`: whether the sandbox pays payouts automatically. */
  static async open(gateway: TestGateway, { available = 10_000, auto = false } = {}): Promise<PayoutDesk> {
    const desk = new PayoutDesk(gateway, await Merchant.open(gateway));
    if (!auto) await desk.settings({ auto_confirm_payouts: false });
    if (available > 0) await desk.earn(available);
    return desk;
  }

  /** Adds exactly `net` to the wallet. The default fees are 10 plus 1 %, rounded half up (M1). */
  async earn(net: number): Promise<void> {
    let amount = Math.floor((net + 10) / 0.99);
    const netOf = (gross: number) => gross - 10 - Math.floor((gross * 100 + 5_000) / 10_000);
    while (netOf(amount) < net) amount++;
    const { id } = await this.merchant.charge({ amount });
    await this.merchant.pay(id);
  }

  async settings(body: Body): Promise<Body> {
    const reply = await this.post<Body>('/v1/sandbox/settings', body);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }

  ask<T = PayoutBody>(body: Body = {}, idempotencyKey = newKey()): Promise<Reply<T>> {
    const usual = { amount: 1_000, destination: { pix_key: PIX_KEY } };
    return this.gateway.post<T>('/v1/payouts', { ...usual, ...body }, { key: this.merchant.key, idempotencyKey });
  }
  async payout(body: Body = {}): Promise<PayoutBody> {
    const reply = await this.ask(body);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  }
  async read(id: string): Promise<PayoutBody> {
    const reply = await this.merchant.get<PayoutBody>(`/v1/payouts/${id}`);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }
  /** Returns the payout once it has this status. Rejects after 20 s. */
  async untilStatus(id: string, status: string): Promise<PayoutBody> {
    const look = async () => {
      const payout = await this.read(id);
      return payout.status === status ? payout : null;
    };
    const found = await pollUntil(this.gateway.gateway.projected, 20_000, look);
    if (found === null) throw new Error(`not ${status} within 20 s: ${JSON.stringify(await this.read(id))}`);
    return found;
  }
  decide<T = PayoutBody>(id: string, how: 'confirm' | 'fail', body: Body = {}): Promise<Reply<T>> {
    return this.post<T>(`/v1/sandbox/payouts/${id}/${how}`, body);
  }
  async review<T = PayoutBody>(
    id: string,
    how: 'approve' | 'reject',
    body?: Body,
    role: 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER' = 'OWNER',
  ): Promise<Reply<T>> {
    const user = await this.gateway.addUser(role, { tenant: this.merchant.tenant });
    const headers = await this.gateway.logIn(role, user);
    return this.gateway.post<T>(`/v1/payouts/${id}/${how}`, body ?? {}, { key: null, headers });
  }

  async available(): Promise<unknown> {
    return (await this.merchant.get<Body>('/v1/wallets/balance')).body['available'];
  }
  post<T = Body>(path: string, body: Body = {}): Promise<Reply<T>> {
    return this.gateway.post<T>(path, body, { key: this.merchant.key });
  }
}
