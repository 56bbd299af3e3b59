// A payer whose data is stored in every possible place: charges, refunds, a dispute with evidence, failed webhooks, a payout.
import { expect } from 'chai';
import { EvidenceDesk } from './evidenceDesk.ts';
import { newKey, type Reply, type TestGateway, type TestTenant } from './gateway.ts';
import { rawIdOf } from './http.ts';
import type { Body } from './merchant.ts';
import { Merchant } from './merchant.ts';
import { pollUntil } from './pollUntil.ts';
import { Receiver } from './receiver.ts';

/** Texts that occur in no other data. */
export const PERSON = {
  name: 'Zuleica Quaresma Xavante',
  document: '39053344705',
  email: 'zuleica.xavante@exemplo-pessoal.com.br',
  phone: '+5511973571113',
  order: 'pedido-zx-770177',
  complaint: 'Zuleica não recebeu o violão azul',
  appeal: 'O violão azul foi entregue a Zuleica',
  file: 'nota-zuleica.png',
} as const;
/** Texts that must not be found after an erasure, in upper or lower case. */
export const TRACES: readonly string[] = [
  'Zuleica',
  PERSON.document,
  '390.533.447-05',
  PERSON.email,
  PERSON.phone.slice(1),
  PERSON.order,
  'violão azul',
];

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

export class PersonDesk {
  readonly gateway: TestGateway;
  readonly merchant: Merchant & { readonly tenant: TestTenant };
  readonly receiver: Receiver;
  /** Raw ids of a Pix charge with refund and dispute, payments by other methods, and an expired charge. */
  readonly payments: string[] = [];
  readonly chargeKey = newKey();
  chargeId = '';
  caseId = '';
  payoutId = '';
  /** A payout that the bank refused. */
  failedPayoutId = '';
  evidenceId = '';
  /** Path and query of the link to the file, before the erasure. */
  evidenceLink = '';
  /** Path and query of the link to the boleto, before the erasure. */
  boletoPath = '';
  /** Payment ids by method. */
  readonly idsByMethod = new Map<string, string>();

  private constructor(gateway: TestGateway, merchant: PersonDesk['merchant'], receiver: Receiver) {
    this.gateway = gateway;
    this.merchant = merchant;
    this.receiver = receiver;
  }

  /** Opens an account whose webhook endpoint echoes every message, and rejects those whose type starts with `rejected`. */
  static async open(gateway: TestGateway, rejected = ''): Promise<PersonDesk> {
    return PersonDesk.of(gateway, await Merchant.open(gateway), rejected);
  }
  static async of(gateway: TestGateway, merchant: PersonDesk['merchant'], rejected = ''): Promise<PersonDesk> {
    const receiver = await Receiver.open((hit, res) => {
      res.statusCode = String(hit.body['type']).startsWith(rejected) ? 500 : 200;
      res.end(hit.rawBody.slice(0, 900));
    });
    const desk = new PersonDesk(gateway, merchant, receiver);
    await desk.merchant.register(receiver.url);
    return desk;
  }

  async post<T = Body>(path: string, body?: unknown, status = 200): Promise<T> {
    const reply = await this.gateway.post<T>(path, body, { ...this.merchant, idempotencyKey: newKey() });
    expect(reply.status, reply.text).to.equal(status);
    return reply.body;
  }

  chargeBody(amount = 10_000): Body {
    const { name, document, email, phone, order } = PERSON;
    const customer = { name, document, email, phone };
    return { amount, payment_method: 'pix', customer, metadata: { order_id: order }, expected_payer_tax_id: document };
  }
  charge(amount = 10_000): Promise<Reply> {
    return this.gateway.charge(this.chargeBody(amount), { ...this.merchant, idempotencyKey: this.chargeKey });
  }

  /** Pays, partially refunds to the person’s Pix key, and wins a dispute for the merchant. */
  async payInFull(): Promise<void> {
    const { status, body, text } = (await this.charge()) as Reply<Body>;
    expect(status, text).to.equal(201);
    this.chargeId = body['id'] as string;
    const id = rawIdOf(this.chargeId);
    this.payments.push(id);
    const payer = { name: PERSON.name, document: PERSON.document };
    await this.post(`/v1/sandbox/charges/${this.chargeId}/pay`, { payer });
    const refund = { amount: 1_000, idempotencyKey: newKey(), destinationKey: PERSON.email, reason: PERSON.complaint };
    await this.post(`/v1/payments/${id}/refund`, refund, 201);
    await this.#untilRefunded(id);
    const dispute = { reason: PERSON.complaint, payer, method: 'scam' };
    this.caseId = (await this.post<{ id: string }>(`/v1/sandbox/charges/${this.chargeId}/med`, dispute, 201)).id;
    const evidence = await EvidenceDesk.ofCase(this.gateway, this.merchant, this.caseId).add({
      file_name: PERSON.file,
    });
    this.evidenceId = evidence.id;
    this.evidenceLink = pathOf(evidence.view_url);
    await this.post(`/v1/med/cases/${this.caseId}/appeal`, { reason: PERSON.appeal });
    await this.post(`/v1/sandbox/med/cases/${this.caseId}/decide`, { result: 'disagreed', returned: true });
    await this.#until(async () => (await this.statusOf(this.chargeId)) === 'paid');
  }

  async #until(look: () => Promise<boolean>): Promise<void> {
    const seen = await pollUntil(this.gateway.gateway.projected, 30_000, async () => ((await look()) ? true : null));
    expect(seen, 'in time').to.equal(true);
  }

  async #untilRefunded(id: string): Promise<void> {
    await this.#until(async () => {
      const { body } = await this.gateway.get<{ data: readonly { status: string }[] }>(
        `/v1/payments/${id}/refunds`,
        this.merchant,
      );
      return body.data.every(({ status }) => status === 'REFUNDED');
    });
  }

  async statusOf(id: string): Promise<unknown> {
    return (await this.gateway.get<Body>(`/v1/charges/${id}`, this.merchant)).body['status'];
  }

  /** Pays by every method other than Pix, each with an instrument of its own. */
  async payOtherwise(): Promise<void> {
    for (const [method, currency] of [
      ['BOLETO', 'BRL'],
      ['MBWAY', 'EUR'],
      ['CREDIT_CARD', 'BRL'],
      ['MULTIBANCO', 'EUR'],
      ['CRYPTO', 'USDT'],
    ] as const) {
      const { name, document, email, phone, order } = PERSON;
      const made = await this.post<{ id: string }>(
        '/v1/payments',
        {
          ...{ amount: 10_000, currency, paymentMethods: [method], idempotencyKey: newKey() },
          ...{ customerName: name, customerDocument: document, customerEmail: email, customerId: order },
          metadata: { order_id: order, phone },
        },
        201,
      );
      this.payments.push(made.id);
      this.idsByMethod.set(method, made.id);
      await this.#until(async () => (await this.paymentOf(made.id))['status'] !== 'PENDING');
      if (method === 'BOLETO') this.boletoPath = pathOf((await this.paymentOf(made.id))['boletoPdfUrl'] as string);
      await this.post(`/v1/sandbox/payments/${made.id}/authorize`, {});
    }
  }

  async paymentOf(id: string): Promise<Body> {
    return (await this.gateway.get<Body>(`/v1/payments/${id}`, this.merchant)).body;
  }

  /** Pays out to the person's Pix key. */
  async payOut(): Promise<void> {
    const body = { amount: 500, destination: { pix_key: PERSON.document }, description: PERSON.complaint };
    const { id } = await this.post<{ id: string }>('/v1/payouts', body, 201);
    this.payoutId = id;
    await this.#until(async () => (await this.get<Body>(`/v1/payouts/${id}`)).body['status'] === 'paid');
  }

  /** Makes a refund, a payout and a card payment fail, with the person’s name in the bank’s reason. */
  async failEverywhere(): Promise<void> {
    const settings = { auto_confirm_refunds: false, auto_confirm_payouts: false };
    const because = { reason: PERSON.complaint };
    await this.post('/v1/sandbox/settings', settings);
    const asked = { amount: 300, idempotencyKey: newKey(), destinationKey: PERSON.email };
    const refund = await this.post<{ id: string }>(`/v1/payments/${rawIdOf(this.chargeId)}/refund`, asked, 201);
    await this.post(`/v1/sandbox/refunds/${refund.id}/fail`, because);
    const body = { amount: 300, destination: { pix_key: PERSON.document } };
    this.failedPayoutId = (await this.post<{ id: string }>('/v1/payouts', body, 201)).id;
    await this.post(`/v1/sandbox/payouts/${this.failedPayoutId}/fail`, because);
    await this.post('/v1/sandbox/settings', { auto_confirm_refunds: true, auto_confirm_payouts: true });
    const card = { amount: 10_000, currency: 'BRL', paymentMethods: ['CREDIT_CARD'], idempotencyKey: newKey() };
    const customer = { customerName: PERSON.name, customerDocument: PERSON.document, customerEmail: PERSON.email };
    const { id } = await this.post<{ id: string }>('/v1/payments', { ...card, ...customer }, 201);
    this.payments.push(id);
    await this.#until(async () => (await this.paymentOf(id))['status'] !== 'PENDING');
    await this.post(`/v1/sandbox/payments/${id}/refuse`, because);
  }

  get<T = Body>(path: string): Promise<Reply<T>> {
    return this.gateway.get<T>(path, this.merchant);
  }

  async operate<T = Body>(what: 'find' | 'report' | 'erase', body: object): Promise<Reply<T>> {
    const headers = await this.gateway.logIn('OPERATOR', await this.gateway.addUser('OPERATOR'));
    return this.gateway.call<T>('POST', `/ops/v1/privacy/${what}`, { key: null, headers, body });
  }

  /** Waits until the data keys of all owners are destroyed and every erasure is complete. */
  async untilErased(owners: readonly string[]): Promise<void> {
    const text = 'SELECT FROM privacy.data_keys WHERE owner = ANY($1::text[]) AND destroyed_at IS NOT NULL';
    await this.#until(async () => {
      const { rowCount } = await this.gateway.storage.operations.query(text, [owners]);
      return rowCount === owners.length;
    });
    const { storage, gateway } = this.gateway;
    const head = await storage.store.head();
    if (head !== null) gateway.reacted.sawHead(head);
    expect(await gateway.reacted.caughtUp(30_000), 'jobs started').to.equal(true);
    await this.#until(async () => {
      const open = await this.gateway.storage.operations.query(
        "SELECT FROM operations.owed WHERE queue = 'completeErasure'",
      );
      return open.rowCount === 0;
    });
  }

  /** Returns every row of the database that has one of the texts, as `schema.table: text`. Default: those of the person. */
  async tracesInDatabase(traces = TRACES): Promise<readonly string[]> {
    const { operations } = this.gateway.storage;
    const { rows: tables } = await operations.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await operations.query<{ row: string }>(
        `SELECT t::text AS row FROM ${name} t WHERE t::text ILIKE ANY($1::text[]) LIMIT 3`,
        [traces.map((trace) => `%${trace}%`)],
      );
      found.push(...rows.map(({ row }) => `${name}: ${row}`));
    }
    return found;
  }

  close(): Promise<void> {
    return this.receiver.close();
  }
}
