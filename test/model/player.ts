// Plays random operations against the gateway over HTTP and compares every answer with the model.
import { config, expect } from 'chai';
import { newKey, type TestGateway, type TestTenant } from '../world/gateway.ts';
import { pollUntil } from '../world/pollUntil.ts';
import type { AcquirerMove, Operation } from './operations.ts';
import { type Payment, PIX_OUT_FEE, type Refund, Shop } from './shop.ts';

type Body = Record<string, unknown>;
type OfKind<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

config.truncateThreshold = 0; // Show differences in full.

const LOCKED_TO = '99991111140';
const STRANGER = '99992222263';

/** Every advance is a multiple of this, so a clock that starts in the middle of a step never gets near the end of a day. */
const STEP = 600;
/** Advances the account’s clock to the middle of a step. Returns its time in seconds. */
const farFromMidnight = async (gateway: TestGateway, key: string): Promise<number> => {
  const { now } = (await gateway.get<{ now: string }>('/v1/sandbox/clock', { key })).body;
  const seconds = STEP + STEP / 2 - (Math.floor(Date.parse(now) / 1_000) % STEP);
  const advanced = await gateway.post<{ now: string }>('/v1/sandbox/clock/advance', { seconds }, { key });
  return Math.floor(Date.parse(advanced.body.now) / 1_000);
};

export class Player {
  readonly #gateway: TestGateway;
  readonly #key: string;
  readonly #accountId: TestTenant['accountId'];
  readonly #shop: Shop;
  /** How often each operation had an effect. */
  readonly played = new Map<Operation['kind'], number>();

  private constructor(gateway: TestGateway, { testKey, accountId }: TestTenant, now: number) {
    this.#shop = new Shop(now);
    this.#gateway = gateway;
    this.#key = testKey;
    this.#accountId = accountId;
  }

  /** Opens a player with its own account, whose refunds wait for the bank’s decision. */
  static async open(gateway: TestGateway): Promise<Player> {
    const tenant = await gateway.newTenant();
    const player = new Player(gateway, tenant, await farFromMidnight(gateway, tenant.testKey));
    await player.#post('/v1/sandbox/settings', { auto_confirm_refunds: false }, 200);
    return player;
  }

  async play(operation: Operation): Promise<void> {
    const isPlayed = await this.#play(operation);
    if (isPlayed) this.played.set(operation.kind, (this.played.get(operation.kind) ?? 0) + 1);
  }

  #play(operation: Operation): Promise<boolean> {
    switch (operation.kind) {
      case 'create':
        return this.#create(operation);
      case 'pay':
        return this.#pay(operation);
      case 'acquirer':
        return this.#acquire(operation);
      case 'cancel':
        return this.#cancel(operation);
      case 'refund':
        return this.#refund(operation);
      case 'endRefund':
        return this.#endRefund(operation);
      case 'clock':
        return this.#advance(operation.seconds);
      default:
        return operation satisfies never;
    }
  }

  /** Expects everything readable to equal the model. */
  async check(): Promise<void> {
    const { available, pending, retained } = this.#shop.wallet;
    const balance = await this.#get<Body>('/v1/wallets/balance');
    const seen = { available: balance['available'], pending: balance['pending'], retained: balance['retained'] };
    expect(seen, 'wallet').to.deep.equal({ available, pending, retained });
    const payments = await this.#allPayments();
    const statuses = Object.fromEntries(payments.map(({ id, status }) => [id.replace(/^tx_/, ''), status]));
    const expected = Object.fromEntries(this.#shop.payments.map(({ id, status }) => [id, status]));
    // Compared as text, so that the message shows the difference.
    expect(JSON.stringify(sorted(statuses)), 'statuses').to.equal(JSON.stringify(sorted(expected)));
    for (const payment of this.#shop.payments) if (payment.refunds.length > 0) await this.#checkRefunds(payment);
  }

  async #checkRefunds(payment: Payment): Promise<void> {
    const { data } = await this.#get<{ data: { id: string; amount: number; status: string }[] }>(
      `/v1/payments/${payment.id}/refunds`,
    );
    const seen = data.map(({ id, amount, status }) => ({ id, amount, status: OPEN.has(status) ? 'open' : status }));
    const known = payment.refunds.map(({ id, amount, status }) => ({ id, amount, status }));
    expect(seen, `refunds of ${payment.id}`).to.have.deep.members(known);
  }

  async #allPayments(): Promise<readonly { id: string; status: string }[]> {
    const all: { id: string; status: string }[] = [];
    for (let page = 1; ; page++) {
      const { data, total } = await this.#get<{ data: { id: string; status: string }[]; total: number }>(
        `/v1/payments?limit=100&page=${page}`,
      );
      all.push(...data);
      if (data.length === 0 || all.length >= total) return all;
    }
  }

  async #create({ method, amount, isLocked }: OfKind<'create'>): Promise<boolean> {
    const id =
      method === 'PIX' ? await this.#createCharge(amount, isLocked) : await this.#createPayment(method, amount);
    this.#shop.create(id, method, amount, method === 'PIX' && isLocked);
    return true;
  }

  async #createCharge(amount: number, isLocked: boolean): Promise<string> {
    const lock = isLocked ? { expected_payer_tax_id: LOCKED_TO, customer: { name: 'Maria', document: LOCKED_TO } } : {};
    const charge = await this.#post('/v1/charges', { amount, payment_method: 'pix', ...lock }, 201, newKey());
    return String(charge['id']).slice('ch_'.length);
  }

  async #createPayment(method: string, amount: number): Promise<string> {
    const body = { amount, currency: 'BRL', paymentMethods: [method], idempotencyKey: newKey() };
    const { id } = (await this.#post('/v1/payments', body, 201)) as { id: string };
    // A job creates the instrument at the acquirer.
    const taken = await pollUntil(this.#gateway.gateway.projected, 30_000, async () => {
      const { status } = await this.#get<{ status: string }>(`/v1/payments/${id}`);
      if (status !== 'WAITING_PAYMENT') expect(status).to.equal('PENDING');
      return status === 'PENDING' ? null : id;
    });
    if (taken === null) throw new Error(`payment ${id} is still PENDING after 30 s`);
    return taken;
  }

  async #pay({ which, how, twice }: OfKind<'pay'>): Promise<boolean> {
    const payment = this.#choose(which, ({ method }) => method === 'PIX');
    if (payment === null) return false;
    for (let n = 0; n < (twice ? 2 : 1); n++) {
      const body = {
        ...(how === 'wrong' && { amount: payment.amount + 1 }),
        ...(how === 'late' && { late: true }),
        payer: { document: how === 'nobody' ? null : how === 'stranger' ? STRANGER : LOCKED_TO },
      };
      const expected = this.#shop.pay(payment, how);
      const reply = await this.#post(`/v1/sandbox/charges/ch_${payment.id}/pay`, body, 200);
      expect(reply['outcome'], `${how} payment of ${payment.id}`).to.equal(expected);
    }
    await this.#checkStatus(payment);
    return true;
  }

  async #acquire({ which, what }: OfKind<'acquirer'>): Promise<boolean> {
    const payment = this.#choose(which, (one) => this.#canDo(one, what));
    if (payment === null) return false;
    if (what === 'authorize') this.#shop.authorize(payment);
    else if (what === 'refuse') payment.status = 'REFUSED';
    else if (what === 'processing') payment.status = 'PROCESSING';
    else this.#shop.dispute(payment, what === 'chargeback' ? 'CHARGEBACK' : 'DISPUTE');
    const { status } = await this.#post(`/v1/sandbox/payments/${payment.id}/${what}`, {}, 200);
    expect(status, `${what} of ${payment.id}`).to.equal(payment.status);
    return true;
  }

  #canDo(payment: Payment, what: AcquirerMove): boolean {
    if (payment.method === 'PIX') return false;
    if (what === 'chargeback' || what === 'dispute') return payment.status === 'APPROVED';
    return what === 'processing' ? payment.status === 'WAITING_PAYMENT' : this.#shop.isAlive(payment);
  }

  async #cancel({ which }: OfKind<'cancel'>): Promise<boolean> {
    const payment = this.#choose(which, () => true);
    if (payment === null) return false;
    const expected = this.#shop.cancel(payment);
    const path = `/v1/payments/${payment.id}/cancel`;
    if (expected === null) await this.#refused(path, {}, 400, 'transaction_not_cancellable');
    else expect((await this.#post(path, {}, 200))['status']).to.equal('CANCELLED');
    return true;
  }

  async #refund({ which, percent, devolution, passFee }: OfKind<'refund'>): Promise<boolean> {
    const payment = this.#choose(which, ({ status }) => status !== 'WAITING_PAYMENT' || which % 5 === 0);
    if (payment === null) return false;
    const rest = this.#shop.restOf(payment);
    const amount = percent > 100 ? rest + 1 : Math.max(1, Math.floor((rest * percent) / 100));
    const isPix = payment.method === 'PIX';
    const body = {
      amount,
      idempotencyKey: newKey(),
      ...(isPix && devolution && { strategy: 'devolution' }),
      ...(isPix && !devolution && { passFeeToTenant: passFee, destinationKey: STRANGER }),
    };
    const path = `/v1/payments/${payment.id}/refund`;
    const refusal = this.#shop.refundRefusal(payment, amount);
    if (refusal !== null) await this.#refused(path, body, refusal === 'REFUND_NOT_SUPPORTED' ? 422 : 400, refusal);
    else {
      const { id } = await this.#post(path, body, 201);
      this.#shop.refund(payment, id as string, amount, isPix && !devolution && passFee ? PIX_OUT_FEE : 0);
    }
    return true;
  }

  async #endRefund({ which, isPaid }: OfKind<'endRefund'>): Promise<boolean> {
    const open = this.#shop.payments.flatMap((payment) =>
      payment.refunds.filter(({ status }) => status === 'open').map((refund): [Payment, Refund] => [payment, refund]),
    );
    const [payment, refund] = open[which % open.length] ?? [];
    if (payment === undefined || refund === undefined) return false;
    this.#shop.endRefund(payment, refund, isPaid);
    const { status } = await this.#post(`/v1/sandbox/refunds/${refund.id}/${isPaid ? 'confirm' : 'fail'}`, {}, 200);
    expect(status, `refund ${refund.id}`).to.equal(refund.status);
    await this.#checkStatus(payment);
    return true;
  }

  async #advance(seconds: number): Promise<boolean> {
    this.#shop.advance(seconds);
    const options = { key: this.#key };
    const { status, text } = await this.#gateway.post('/v1/sandbox/clock/advance', { seconds }, options);
    expect(status, text).to.be.oneOf([200, 202]); // 202: the rest continues in the background (X).
    while (!(await this.#gateway.gateway.services.whenClockDrained(this.#accountId, 10_000)));
    return true;
  }

  #choose(which: number, wanted: (payment: Payment) => boolean): Payment | null {
    const found = this.#shop.payments.filter(wanted);
    return found[which % found.length] ?? null;
  }

  async #checkStatus(payment: Payment): Promise<void> {
    const { status } = await this.#get<{ status: string }>(`/v1/payments/${payment.id}`);
    expect(status, `status of ${payment.id}`).to.equal(payment.status);
  }

  /** Repeats while read models are behind, as on a busy machine. */
  async #get<T>(path: string): Promise<T> {
    for (;;) {
      const { status, body, text } = await this.#gateway.get<T>(path, { key: this.#key });
      if (status === 503) continue;
      expect(status, `${path}: ${text}`).to.equal(200);
      return body;
    }
  }

  async #post(path: string, body: Body, expected: number, idempotencyKey?: string): Promise<Body> {
    const options = { key: this.#key, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    const reply = await this.#gateway.post<Body>(path, body, options);
    expect(reply.status, `${path} ${JSON.stringify(body)}: ${reply.text}`).to.equal(expected);
    return reply.body;
  }

  async #refused(path: string, body: Body, status: number, code: string): Promise<void> {
    const refused = (await this.#post(path, body, status)) as { error: { code: string } };
    expect(refused.error.code, `${path} ${JSON.stringify(body)}`).to.equal(code);
  }
}

const sorted = (statuses: { readonly [id: string]: string }) =>
  Object.entries(statuses).sort(([a], [b]) => (a < b ? -1 : 1));

const OPEN: ReadonlySet<string> = new Set(['PENDING', 'IN_PROGRESS']);
