// The adapter with the simulated institution, without faults.
import { expect } from 'chai';
import type { PaymentId, RefundId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { addMillis, addSeconds, fromMillis, toMillis } from '../../../../domain/kernel/time.ts';
import type { RefundOrder } from '../../../../domain/refund/refund.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../simulators/pixApi/startSimulator.ts';
import { type Opened, openAt, requestOf, TENANT, TXID } from './support.ts';

const REFUND_ID = '0'.repeat(25).concat('7') as RefundId;
const CPF = '99991111140';

const opened: { close(): unknown }[] = [];
const start = async (options: SimulatorOptions = {}): Promise<Simulator> => {
  const simulator = await startSimulator(options);
  opened.push(simulator);
  return simulator;
};
const connect = (
  simulator: Simulator,
  ...rest: Parameters<typeof openAt> extends [unknown, ...infer R] ? R : never
) => {
  const connection: Opened = openAt(simulator, ...rest);
  opened.push(connection);
  return connection;
};

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const refundOf = (endToEndId: string, change: Partial<RefundOrder> = {}): RefundOrder => ({
  ...TENANT,
  refundId: REFUND_ID,
  paymentId: requestOf().paymentId,
  amount: toMinor(1_000),
  currency: 'BRL',
  method: 'PIX',
  strategy: 'devolution',
  destination: null,
  providerPaymentId: endToEndId,
  ...change,
});

describe('a connection through API Pix', () => {
  it('issues, reads, extends and cancels a charge', async () => {
    const { provider } = connect(await start());
    const request = requestOf({ note: 'Olá, João', debtor: { name: 'Maria', document: '999.922.222-63' } });
    const outcome = await provider.issue(request);
    if (outcome.kind !== 'issued' || outcome.issued.method !== 'PIX') throw new Error(outcome.kind);
    const { instrument } = outcome.issued;
    expect(instrument.txid).to.equal(TXID);
    expect(instrument.brCode).to.match(/^000201.*6304[0-9A-F]{4}$/);
    expect(await provider.findInstrument(request)).to.deep.equal({ kind: 'known', value: outcome.issued });
    expect(await provider.issue(request)).to.deep.equal(outcome);
    const expiresAt = addSeconds(instrument.expiresAt, 600);
    const later = await provider.prolong({ ...request, expiresAt });
    expect(later.kind === 'issued' && toMillis(later.issued.instrument.expiresAt) - toMillis(expiresAt)).to.be.within(
      -500,
      500,
    );
    const status = await provider.statusOf(request);
    expect(status.kind === 'known' && status.value?.status).to.equal('ATIVA');
    expect(await provider.cancel(request)).to.equal('cancelled');
    expect(await provider.cancel(request)).to.equal('cancelled');
  });

  it('finds no charge that was never issued, and treats it as canceled', async () => {
    const { provider } = connect(await start());
    expect(await provider.findInstrument(requestOf())).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.statusOf(requestOf())).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.paymentsOf(TENANT, TXID)).to.deep.equal({ kind: 'known', value: [] });
    expect(await provider.cancel(requestOf())).to.equal('cancelled');
  });

  it('reports that a charge was paid or removed if it is canceled too late', async () => {
    const simulator = await start();
    const { provider } = connect(simulator);
    const other = requestOf({ txid: `${TXID}x` });
    await provider.issue(requestOf());
    await provider.issue(other);
    simulator.pay(TXID);
    simulator.remove(other.txid);
    expect(await provider.cancel(requestOf())).to.equal('paid');
    expect(await provider.cancel(other)).to.equal('removed');
  });

  it('reads payments with payer and returns, but only those of its own key', async () => {
    const simulator = await start({
      settings: { payer: 'full' },
      clients: [{ pixKeys: ['a@b.example', 'c@d.example'] }],
    });
    const { provider } = connect(simulator, { pixKey: 'a@b.example' });
    await provider.issue(requestOf());
    const paidAt = addSeconds(fromMillis(Date.now()), -5);
    const endToEndId = simulator.pay(TXID, { paidAt });
    const returnId = simulator.returnPix(endToEndId, { amount: 200, nature: 'MED_FRAUDE' });
    const found = await provider.findPayment(TENANT, endToEndId);
    if (found.kind !== 'known' || found.value === null) throw new Error('not found');
    const { returns, ...rest } = found.value;
    expect(rest).to.deep.equal({
      txid: TXID,
      incoming: {
        method: 'PIX',
        providerPaymentId: endToEndId,
        amount: 3_700,
        payer: { name: 'PAGADOR DE TESTE', document: CPF },
        paidAt,
      },
      isPlain: true,
    });
    expect(returns.map(({ id, nature, status, amount }) => ({ id, nature, status, amount }))).to.deep.equal([
      { id: returnId, nature: 'medFraud', status: 'done', amount: 200 },
    ]);
    expect(await provider.paymentsOf(TENANT, TXID)).to.deep.equal({ kind: 'known', value: [found.value] });
    const foreign = simulator.payKey('c@d.example', { amount: 100 });
    expect(await provider.findPayment(TENANT, foreign)).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.findPayment(TENANT, endToEndId.replace(/...$/, 'xyz'))).to.deep.equal({
      kind: 'known',
      value: null,
    });
    expect(await provider.findPayment(TENANT, '../cob')).to.deep.equal({ kind: 'known', value: null });
  });

  it('shows the status of a charge without the payer', async () => {
    const simulator = await start({ settings: { payer: 'full' } });
    const { provider } = connect(simulator);
    await provider.issue(requestOf());
    const endToEndId = simulator.pay(TXID, { note: 'de Zuleica' });
    const status = await provider.statusOf(requestOf());
    if (status.kind !== 'known' || status.value === null) throw new Error('not found');
    expect(status.value.raw).to.deep.include({ txid: TXID, status: 'CONCLUIDA' });
    expect(status.value.raw).to.have.nested.property('pix[0].endToEndId', endToEndId);
    expect(JSON.stringify(status.value.raw)).to.not.match(/pagador|99991111140|Zuleica/i);
  });

  it('reads and lists payments to a former key, because a code with that key can still be paid', async () => {
    const simulator = await start({ clients: [{ pixKeys: ['a@b.example', 'c@d.example', 'e@f.example'] }] });
    await connect(simulator, { pixKey: 'a@b.example' }).provider.issue(requestOf());
    const { provider, statement } = connect(simulator, { pixKey: 'c@d.example' }, { formerKeys: ['a@b.example'] });
    const issued = await provider.findInstrument(requestOf());
    expect(issued.kind === 'known' && issued.value?.method).to.equal('PIX');
    const endToEndId = simulator.pay(TXID);
    const foreign = simulator.payKey('e@f.example', { amount: 100 });
    const found = await provider.findPayment(TENANT, endToEndId);
    expect(found.kind === 'known' && found.value?.txid).to.equal(TXID);
    expect(await provider.findPayment(TENANT, foreign)).to.deep.equal({ kind: 'known', value: null });
    const now = fromMillis(Date.now());
    const page = await statement.listReceived(addSeconds(now, -60), addSeconds(now, 1), null);
    const ids = page.kind === 'known' && page.value.items.map(({ incoming }) => incoming.providerPaymentId);
    expect(ids).to.deep.equal([endToEndId]);
  });

  it('marks payments to a former key that another connection has now only in lists', async () => {
    const simulator = await start({ clients: [{ pixKeys: ['a@b.example', 'c@d.example'] }] });
    await connect(simulator, { pixKey: 'a@b.example' }).provider.issue(requestOf());
    const keys = ['a@b.example'];
    const { provider, statement } = connect(
      simulator,
      { pixKey: 'c@d.example' },
      { formerKeys: keys, movedKeys: keys },
    );
    const endToEndId = simulator.pay(TXID);
    const own = simulator.payKey('c@d.example', { amount: 100 });
    const found = await provider.findPayment(TENANT, endToEndId);
    expect(found.kind === 'known' && found.value)
      .to.include({ txid: TXID })
      .and.to.not.have.property('hasMovedKey');
    const now = fromMillis(Date.now());
    const page = await statement.listReceived(addSeconds(now, -60), addSeconds(now, 1), null);
    const items = page.kind === 'known' ? page.value.items : [];
    const marks = Object.fromEntries(items.map((one) => [one.incoming.providerPaymentId, one.hasMovedKey]));
    expect(marks).to.deep.equal({ [endToEndId]: true, [own]: undefined });
  });

  it('marks a payment with a withdrawal as not plain', async () => {
    const simulator = await start();
    const { provider } = connect(simulator);
    await provider.issue(requestOf());
    const endToEndId = simulator.pay(TXID, { withdrawal: 500 });
    const found = await provider.findPayment(TENANT, endToEndId);
    expect(found.kind === 'known' && found.value?.isPlain).to.equal(false);
  });

  it('compares the payer with the filter of the list', async () => {
    const simulator = await start();
    const { provider } = connect(simulator);
    await provider.issue(requestOf());
    const endToEndId = simulator.pay(TXID);
    const pix = { txid: TXID, endToEndId, paidAt: fromMillis(Date.now()), expectedTaxId: CPF };
    expect(await provider.checkPayer(TENANT, pix)).to.deep.equal({ kind: 'known', value: 'match' });
    const wrong = { ...pix, expectedTaxId: '99992222263' };
    expect(await provider.checkPayer(TENANT, wrong)).to.deep.equal({ kind: 'known', value: 'mismatch' });
    const company = { ...pix, expectedTaxId: '12ABC34501DE35' };
    expect(await provider.checkPayer(TENANT, company)).to.deep.equal({ kind: 'known', value: 'mismatch' });
    const longAgo = { ...pix, paidAt: addMillis(pix.paidAt, -86_400_000) };
    expect(await provider.checkPayer(TENANT, longAgo)).to.deep.equal({ kind: 'known', value: 'unknown' });
  });

  it('returns a payment once, however often it is requested', async () => {
    const simulator = await start({ settings: { returns: 'processing' } });
    const { provider } = connect(simulator);
    await provider.issue(requestOf());
    const endToEndId = simulator.pay(TXID);
    const back = {
      method: 'PIX',
      providerPaymentId: endToEndId,
      returnId: 'r1',
      amount: toMinor(3_700),
      metadata: null,
    } as const;
    expect(await provider.returnPayment(TENANT, back)).to.deep.equal({ kind: 'processing' });
    expect(await provider.returnPayment(TENANT, back)).to.deep.equal({ kind: 'processing' });
    simulator.decideReturn(endToEndId, 'r1', 'done');
    expect(await provider.returnPayment(TENANT, back)).to.deep.equal({ kind: 'done' });
    expect(await provider.returnPayment(TENANT, { ...back, amount: toMinor(100) })).to.deep.equal({ kind: 'unknown' });
    const refused = await provider.returnPayment(TENANT, { ...back, returnId: 'r2' });
    expect(refused.kind).to.equal('refused');
  });

  it('refunds by devolution, and rejects a cash-out without a payout rail', async () => {
    const simulator = await start({ settings: { returns: 'processing' } });
    const { provider, rail } = connect(simulator);
    expect(rail).to.equal(null);
    expect(provider.paysOut).to.equal(false);
    await provider.issue(requestOf());
    const order = refundOf(simulator.pay(TXID));
    expect(await provider.findRefund(order)).to.deep.equal({ kind: 'known', value: null });
    expect(await provider.refund(order)).to.deep.equal({ kind: 'processing' });
    simulator.decideReturn(order.providerPaymentId, REFUND_ID, 'refused', 'Conta encerrada.');
    expect(await provider.findRefund(order)).to.deep.equal({
      kind: 'known',
      value: { kind: 'refused', reason: 'Conta encerrada.' },
    });
    expect(await provider.refund({ ...order, strategy: 'cashout', destination: CPF })).to.deep.equal({
      kind: 'refused',
      reason: 'The institution sends no Pix payments.',
    });
  });

  it('pays out through Efí, once', async () => {
    const simulator = await start({ settings: { dialect: 'efi', payouts: 'processing' } });
    const { provider, rail, statement } = connect(simulator, { preset: 'efi' });
    if (rail === null || statement.listSent === undefined) throw new Error('no rail');
    const order = refundOf('E'.padEnd(32, '0'), { strategy: 'cashout', destination: CPF });
    expect(await provider.refund(order)).to.deep.equal({ kind: 'processing' });
    expect(await provider.refund(order)).to.deep.equal({ kind: 'processing' });
    simulator.decidePayout(REFUND_ID, 'done');
    const outcome = await provider.findRefund(order);
    expect(outcome.kind === 'known' && outcome.value?.kind).to.equal('confirmed');
    const payout = {
      payoutId: REFUND_ID as never,
      accountId: TENANT.accountId,
      mode: TENANT.mode,
      amount: toMinor(1_000),
      destination: CPF,
      note: null,
      connectionId: null,
      metadata: null,
    };
    expect(await rail.pay(payout)).to.deep.equal(outcome.kind === 'known' && outcome.value);
    expect(await rail.find({ ...payout, payoutId: 'other' as never })).to.deep.equal({ kind: 'known', value: null });
    const now = Date.now();
    const sent = await statement.listSent(fromMillis(now - 60_000), fromMillis(now + 60_000), null);
    expect(
      sent.kind === 'known' && sent.value.items.map(({ id, status, amount }) => ({ id, status, amount })),
    ).to.deep.equal([{ id: REFUND_ID, status: 'done', amount: 1_000 }]);
  });

  it('issues and cancels at Efí, which rejects repeats and answers 400 for unknown charges', async () => {
    const simulator = await start({ settings: { dialect: 'efi' } });
    const { provider } = connect(simulator, { preset: 'efi' });
    expect(await provider.findInstrument(requestOf())).to.deep.equal({ kind: 'known', value: null });
    const request = requestOf();
    const first = await provider.issue(request);
    expect(first.kind).to.equal('issued');
    expect(await provider.issue(request)).to.deep.equal(first);
    expect(await provider.issue({ ...request, amount: toMinor(3_701) })).to.deep.equal({ kind: 'unknown' });
    expect(await provider.cancel(request)).to.equal('cancelled');
    expect(await provider.cancel(requestOf({ txid: `${TXID}y` }))).to.equal('cancelled');
  });

  it('lists payments page by page', async () => {
    const simulator = await start();
    const { statement, terms } = connect(simulator);
    const [from, to] = [fromMillis(Date.now() - 3_600_000), fromMillis(Date.now())];
    simulator.receiveMany(terms.pixKey, { count: 250, amount: 10, from, to });
    const sizes: number[] = [];
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page = await statement.listReceived(from, to, cursor);
      if (page.kind !== 'known') throw new Error('unknown page');
      sizes.push(page.value.items.length);
      cursor = page.value.next;
    }
    expect(sizes).to.deep.equal([100, 100, 50]);
  });

  it('waits as long as the institution asks if a list is rate-limited', async () => {
    const simulator = await start();
    const pauses: number[] = [];
    const stopwatch = { elapsedMs: () => performance.now(), pause: async (ms: number) => void pauses.push(ms) };
    const { statement } = connect(simulator, {}, { stopwatch });
    simulator.fault({ on: 'pix.list', kind: '429', retryAfter: 3, times: 2 });
    const now = Date.now();
    const page = await statement.listReceived(fromMillis(now - 60_000), fromMillis(now), null);
    expect(page).to.deep.equal({ kind: 'known', value: { items: [], unreadable: [], next: null } });
    expect(pauses).to.deep.equal([3_000, 3_000]);
  });

  it('registers the webhook', async () => {
    const simulator = await start({ settings: { registrationCall: false } });
    const connection = connect(simulator);
    expect(await connection.registeredWebhook()).to.equal(null);
    await connection.registerWebhook('https://quita.example/providers/x/y');
    expect(await connection.registeredWebhook()).to.equal('https://quita.example/providers/x/y');
  });

  it('checks the connection over mTLS', async () => {
    const simulator = await start({ tls: 'mutual' });
    const connection = connect(simulator);
    const steps: string[] = [];
    for await (const { name, isOk } of connection.check()) steps.push(`${name} ${isOk}`);
    expect(steps).to.deep.equal(['certificate true', 'token true', 'scopes true', 'clock true', 'charge true']);
    expect(connection.certificateExpiresAt).to.be.a('string');
  });

  it('compares the clocks at the first token, however long the later steps of a check take', async () => {
    let waitedMs = 0;
    const connection = connect(await start(), {}, { clock: { now: () => Date.now() + waitedMs } });
    const clocks: boolean[] = [];
    for await (const { name, isOk } of connection.check()) {
      if (name === 'token') waitedMs = 90_000;
      if (name === 'clock') clocks.push(isOk);
    }
    expect(clocks).to.deep.equal([true]);
  });

  it('names what is missing if a check fails', async () => {
    const simulator = await start({ clients: [{ scopes: ['cob.read', 'pix.read'] }] });
    const details: Record<string, string> = {};
    for await (const { name, detail } of connect(simulator).check()) details[name] = detail;
    expect(details['scopes']).to.equal('These scopes are missing: cob.write pix.write webhook.read webhook.write.');
    expect(details['charge']).to.equal('Creating a charge of one centavo: unavailable.');
  });

  it('binds an end-to-end ID to one payment', async () => {
    const bound = new Map<string, PaymentId>();
    const claims = async (id: string, payment: PaymentId) => {
      if (!bound.has(id)) bound.set(id, payment);
      return bound.get(id) === payment;
    };
    const { provider } = connect(await start(), {}, { claims });
    expect(await provider.claim('E1', 'a' as PaymentId)).to.equal(true);
    expect(await provider.claim('E1', 'b' as PaymentId)).to.equal(false);
  });
});
