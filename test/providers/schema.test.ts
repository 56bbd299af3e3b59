// Traffic between adapter and simulator, validated by Prism with the central bank’s schema.
import { expect } from 'chai';
import type { InstrumentRequest } from '../../application/ports/paymentProvider.ts';
import type { CheckStep, OpenConnection } from '../../application/ports/providerConnections.ts';
import type { AccountId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { RefundOrder } from '../../domain/refund/refund.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { Receiver } from '../world/receiver.ts';
import { openAdapter } from './support/adapter.ts';
import { type Prism, startPrism } from './support/prism.ts';
import { type Relay, startRelay } from './support/relay.ts';
import { judged } from './support/schema.ts';

const HOUR_S = 3_600;
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;

/** Routes of the standard that the adapter calls, as named in the schema. */
const ROUTES: readonly (readonly [name: string, method: string, path: RegExp])[] = [
  ['PUT /cob/{txid}', 'PUT', /^\/cob\/[^/]+$/],
  ['PATCH /cob/{txid}', 'PATCH', /^\/cob\/[^/]+$/],
  ['GET /cob/{txid}', 'GET', /^\/cob\/[^/]+$/],
  ['GET /pix', 'GET', /^\/pix\?/],
  ['GET /pix/{e2eid}', 'GET', /^\/pix\/[^/]+$/],
  ['PUT /pix/{e2eid}/devolucao/{id}', 'PUT', /^\/pix\/[^/]+\/devolucao\/[^/]+$/],
  ['GET /pix/{e2eid}/devolucao/{id}', 'GET', /^\/pix\/[^/]+\/devolucao\/[^/]+$/],
  ['PUT /webhook/{chave}', 'PUT', /^\/webhook\/[^/]+$/],
  ['GET /webhook/{chave}', 'GET', /^\/webhook\/[^/]+$/],
];

judged('the adapter and the simulator, by the schema of the central bank', (schema) => {
  let simulator: Simulator;
  let prism: Prism;
  let relay: Relay;
  let adapter: OpenConnection;
  let pixKey: string;
  let made = 0;
  const called = new Set<string>();

  before(async () => {
    simulator = await startSimulator();
    // Without --errors Prism forwards invalid answers, so the adapter continues. It reports violations in a header either way.
    prism = await startPrism('proxy', schema, simulator.baseUrl);
    relay = await startRelay(prism.url);
    const [client] = simulator.clients;
    pixKey = client?.pixKey ?? '';
    const terms = { baseUrl: relay.url, tokenUrl: simulator.tokenUrl, clientId: client?.clientId ?? '', pixKey };
    adapter = openAdapter(terms, client?.clientSecret);
  });
  after(async () => {
    adapter.close();
    await relay.close();
    await prism.close();
    await simulator.close();
  });

  /** Returns the distinct violations that Prism found since the last call. */
  const found = (): readonly string[] => {
    const exchanges = relay.exchanges.splice(0);
    expect(exchanges).to.not.have.length(0);
    for (const { method, path } of exchanges)
      for (const [name, wanted, pattern] of ROUTES) if (method === wanted && pattern.test(path)) called.add(name);
    return [...new Set(exchanges.flatMap(({ violations }) => violations))];
  };
  const expectValid = (): void => {
    expect(found()).to.deep.equal([]);
  };

  const request = (change: Partial<InstrumentRequest> = {}): InstrumentRequest => {
    made += 1;
    const createdAt = fromMillis(Date.now());
    return {
      ...TENANT,
      txid: `cobranca${String(made).padStart(20, '0')}`,
      method: 'PIX',
      paymentId: `pay_${String(made).padStart(26, '0')}` as PaymentId,
      amount: toMinor(1_234),
      currency: 'BRL',
      createdAt,
      expiresAt: addSeconds(createdAt, HOUR_S),
      lifetimeSeconds: HOUR_S,
      debtor: null,
      note: null,
      sandbox: null,
      ...change,
    };
  };
  const issued = async (change: Partial<InstrumentRequest> = {}): Promise<InstrumentRequest> => {
    const wanted = request(change);
    expect((await adapter.provider.issue(wanted)).kind).to.equal('issued');
    return wanted;
  };
  const refundOf = (providerPaymentId: string, amount: number): RefundOrder => {
    made += 1;
    return {
      ...TENANT,
      refundId: `refund${String(made).padStart(20, '0')}` as RefundId,
      paymentId: 'pay_1' as PaymentId,
      amount: toMinor(amount),
      currency: 'BRL',
      method: 'PIX',
      strategy: 'devolution',
      destination: null,
      providerPaymentId,
    };
  };
  const period = (): readonly [Timestamp, Timestamp] => [
    fromMillis(Date.now() - HOUR_S * 1_000),
    fromMillis(Date.now() + HOUR_S * 1_000),
  ];

  /** Returns a function that calls the simulator through Prism, without the adapter, and returns the status. */
  const rawCaller = async () => {
    const [client] = simulator.clients;
    const basic = Buffer.from(`${client?.clientId}:${client?.clientSecret}`).toString('base64');
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    const init = { method: 'POST', body: form, headers: { authorization: `Basic ${basic}` } };
    const { access_token } = (await (await fetch(simulator.tokenUrl, init)).json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
    return async (method: string, path: string, body: object | null = null): Promise<number> =>
      (await fetch(relay.url + path, { method, headers, body: body && JSON.stringify(body) })).status;
  };

  it('agree on charges: issued, issued again, found, extended, shown and canceled', async () => {
    const { provider } = adapter;
    const wanted = await issued();
    expect((await provider.issue(wanted)).kind).to.equal('issued');
    expect((await provider.findInstrument(wanted)).kind).to.equal('known');
    const prolonged = { ...wanted, expiresAt: addSeconds(wanted.expiresAt, HOUR_S) };
    expect((await provider.prolong(prolonged)).kind).to.equal('issued');
    expect(await provider.statusOf(wanted)).to.deep.include({ kind: 'known' });
    expect([await provider.cancel(wanted), await provider.cancel(wanted)]).to.deep.equal(['cancelled', 'cancelled']);
    expectValid();
  });

  it('agree on debtors and notes of all kinds', async () => {
    const name = 'José d’Ávila & Filhos – Comércio de Pães Ltda. '.repeat(6);
    await issued({ debtor: { name, document: '12345678909' }, note: 'Pedido nº 1 ☕\n'.repeat(20) });
    await issued({ debtor: { name: 'Empresa', document: '12ABC34501DE35' }, note: '' });
    await issued({ amount: toMinor(1) });
    await issued({ amount: toMinor(999_999_999_999) });
    await issued({ lifetimeSeconds: 1 });
    expectValid();
  });

  it('agree on charges that don’t exist, were removed, are paid or are rejected', async () => {
    const { provider } = adapter;
    const absent = request();
    expect(await provider.findInstrument(absent)).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.cancel(absent)).to.equal('cancelled');
    const removed = await issued();
    simulator.remove(removed.txid);
    expect(await provider.cancel(removed)).to.equal('removed');
    const paid = await issued();
    simulator.pay(paid.txid);
    expect(await provider.cancel(paid)).to.equal('paid');
    expect(await provider.issue({ ...paid, amount: toMinor(1) })).to.deep.include({ kind: 'refused' });
    expectValid();
  });

  it('agree on payments: by id, of a charge, of a period with several pages, and by payer', async () => {
    const { provider, statement } = adapter;
    const { txid } = await issued();
    const endToEndId = simulator.pay(txid);
    const [from, to] = period();
    expect(await provider.findPayment(TENANT, endToEndId)).to.have.nested.property('value.txid', txid);
    expect(await provider.findPayment(TENANT, 'E'.repeat(32))).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.paymentsOf(TENANT, txid)).to.have.nested.property('value.length', 1);
    simulator.receiveMany(pixKey, { count: 150, amount: 100, from, to });
    const first = await statement.listReceived(from, to, null);
    expect(first).to.have.nested.property('value.items.length', 100);
    expect(await statement.listReceived(from, to, '1')).to.have.nested.property('value.next', null);
    const paidAt = fromMillis(Date.now());
    for (const [expectedTaxId, value] of [
      ['99991111140', 'match'],
      ['12345678909', 'mismatch'],
      ['12ABC34501DE35', 'mismatch'],
    ] as const)
      expect(await provider.checkPayer(TENANT, { txid, endToEndId, paidAt, expectedTaxId })).to.deep.equal({
        kind: 'known',
        value,
      });
    expectValid();
  });

  it('agree on returns: made, repeated, looked up, rejected, and made by the bank', async () => {
    const { provider } = adapter;
    const { txid } = await issued();
    const endToEndId = simulator.pay(txid);
    const part = refundOf(endToEndId, 234);
    expect((await provider.refund(part)).kind).to.equal('processing');
    expect((await provider.refund(part)).kind).to.equal('confirmed');
    expect((await provider.findRefund(part)).kind).to.equal('known');
    expect((await provider.refund(refundOf(endToEndId, 1_001))).kind).to.equal('refused');
    simulator.returnPix(endToEndId, { amount: 300, nature: 'MED_FRAUDE' });
    const back = { method: 'PIX', providerPaymentId: endToEndId, returnId: 'resto', amount: toMinor(700) } as const;
    expect((await provider.returnPayment(TENANT, { ...back, metadata: null })).kind).to.equal('processing');
    expect(await provider.findPayment(TENANT, endToEndId)).to.have.nested.property('value.returns.length', 3);
    expect(await provider.paymentsOf(TENANT, txid)).to.have.nested.property('value[0].returns.length', 3);
    expectValid();
  });

  it('agree on webhooks: none, registered and shown', async () => {
    const receiver = await Receiver.open();
    try {
      expect(await adapter.registeredWebhook()).to.equal(null);
      await adapter.registerWebhook(receiver.url);
      expect(await adapter.registeredWebhook()).to.equal(receiver.url);
    } finally {
      await receiver.close();
    }
    expectValid();
  });

  it('agree on all calls of `provider check`', async () => {
    const steps: CheckStep[] = [];
    for await (const step of adapter.check()) steps.push(step);
    expect(steps.filter(({ isOk }) => !isOk)).to.deep.equal([]);
    expectValid();
  });

  it('disagree on a static txid, which the repaired schema doesn’t allow in answers', async () => {
    simulator.payKey(pixKey, { amount: 100, txid: 'estatico', paidAt: '2026-01-02T00:00:00.000Z' });
    const [from, to] = ['2026-01-01T12:00:00.000Z', '2026-01-02T12:00:00.000Z'] as Timestamp[];
    const page = await adapter.statement.listReceived(from as Timestamp, to as Timestamp, null);
    expect(page).to.have.nested.property('value.items[0].txid', 'estatico');
    expect(found()).to.deep.equal(['response.body.pix.0.txid: pattern']);
  });

  it('were tested on every route of the standard that the adapter calls', () => {
    expect([...called].sort()).to.deep.equal(ROUTES.map(([name]) => name).sort());
  });

  it('agree on routes that only the simulator has, except for idCob, which the schema requires in lists of charges', async () => {
    const call = await rawCaller();
    const charge = { calendario: { expiracao: HOUR_S }, valor: { original: '1.00' }, chave: pixKey };
    expect(await call('POST', '/cob', charge)).to.equal(201);
    expect(await call('GET', '/webhook')).to.equal(200);
    expect(await call('DELETE', `/webhook/${pixKey}`)).to.equal(204);
    expect(await call('DELETE', `/webhook/${pixKey}`)).to.equal(404);
    expectValid();
    const [inicio, fim] = period();
    const query = new URLSearchParams({ inicio, fim, 'paginacao.itensPorPagina': '1' });
    expect(await call('GET', `/cob?${query}`)).to.equal(200);
    expect(found()).to.deep.equal(['response.body.cobs.0: required']);
  });
});
