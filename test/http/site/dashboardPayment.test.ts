// A payment in the dashboard: its amounts, webhooks and requests, and what its actions cost or why they are unavailable.
import { expect } from 'chai';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { PT } from '../../../http/site/dashboard/texts/pt.ts';
import { cookieOf, ownForm } from '../../world/browser.ts';
import { newKey, type TestGateway, type TestUser } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';
import { paidCharge } from '../examples/caseExamples.ts';

const AT = '/dashboard/test';

describe('a payment in the dashboard', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  before(async () => {
    gateway = await openReady();
    owner = await gateway.addUser('OWNER');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const headersOf = async (language = 'en') => {
    const bearer = await gateway.logIn('OWNER', owner);
    return { bearer, headers: { accept: 'text/html', 'accept-language': language, ...cookieOf(bearer) } };
  };
  const show = async (path: string, language?: string) =>
    gateway.call<unknown>('GET', AT + path, { key: null, headers: (await headersOf(language)).headers });
  const send = async (path: string, fields: Readonly<Record<string, string>> = {}) => {
    const { bearer, headers } = await headersOf();
    return gateway.call<unknown>('POST', AT + path, { key: null, ...ownForm(bearer, fields), headers });
  };
  const charge = async (amount: number) => rawIdOf((await gateway.charge<{ id: string }>({ amount })).body.id);
  const paid = async (amount: number) => {
    const raw = await charge(amount);
    expect((await gateway.post(`/v1/sandbox/charges/ch_${raw}/pay`)).status).to.equal(200);
    return raw;
  };
  /** Returns the amounts of a description list by label. */
  const amountsIn = (text: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [...text.matchAll(/<dt>([^<]+)<\/dt><dd>([^<]+)<\/dd>/g)].map(([, label, value]) => [label, value]),
    );

  it('shows fees, net and retained amounts, and wallet movements that add up', async () => {
    const raw = await paid(100_00);
    const before = amountsIn((await show(`/payments/${raw}`)).text);
    expect(before).to.include({
      [EN.payment.providerFee]: '-R$ 0.10',
      [EN.payment.platformFee]: '-R$ 1.00',
      [EN.payment.net]: 'R$ 98.90',
      [EN.payment.inWallet]: 'R$ 98.90',
    });
    await gateway.post(`/v1/payments/${raw}/refund`, { amount: 30_00, idempotencyKey: newKey() });
    await gateway.post(`/v1/sandbox/charges/ch_${raw}/med`, {});
    const { text } = await show(`/payments/${raw}`);
    const after = amountsIn(text);
    expect(after).to.include({ [EN.overview.retained]: 'R$ 70.00', [EN.payment.inWallet]: 'R$ 68.90' });
    const ledger = text.slice(
      text.indexOf(EN.payment.ledger),
      text.indexOf('</table>', text.indexOf(EN.payment.ledger)),
    );
    const sums = [...ledger.matchAll(/<td>(-?)R\$ ([\d.,]+)<\/td><td>(-?)R\$ ([\d.,]+)<\/td>/g)].map(
      ([, minus, amount = '', minusSum, sum = '']) =>
        [amount, sum].map((one, n) => Math.round(Number(one.replace(',', '')) * 100) * ([minus, minusSum][n] ? -1 : 1)),
    );
    expect(sums.length).to.be.above(2);
    let sum = 0;
    for (const [amount = 0, shown] of sums) {
      sum += amount;
      expect(shown).to.equal(sum);
    }
    expect(sum).to.equal(68_90);
  });
  it('previews the cost and remainder of a refund without changing anything', async () => {
    const raw = await paid(100_00);
    const { text } = await send(`/payments/${raw}/refund`, { amount: '25.00', step: 'preview' });
    const amounts = amountsIn(text);
    expect(amounts).to.include({ [EN.payment.refundAmount]: 'R$ 25.00', [EN.payment.stillRefundable]: 'R$ 75.00' });
    const minor = (label: string) => Math.round(Number(amounts[label]?.replace(/[R$ ,]/g, '')) * 100);
    expect(minor(EN.payouts.before) - minor(`${EN.overview.available}, ${EN.payment.afterwards}`)).to.equal(25_00);
    expect(text).to.include(EN.payment.feesStay('R$ 1.10'));
    const more = await send(`/payments/${raw}/refund`, { amount: '100.01', step: 'preview' });
    expect([more.status, more.text.includes('(R$ 100.00)')]).to.deep.equal([422, true]);
    expect((await gateway.get<{ data: unknown[] }>(`/v1/payments/${raw}/refunds`)).body.data).to.deep.equal([]);
  });
  it('says why an action is unavailable, in both languages', async () => {
    const open = (await show(`/payments/${await charge(500)}`)).text;
    expect(open).to.include('Only a settled payment can be refunded.').and.include(EN.payment.noReceipt);
    const raw = await paid(500);
    const page = await show(`/payments/${raw}`, 'pt-BR');
    expect(page.text).to.include('Este pagamento já foi liquidado. Faça um estorno.').and.include(PT.payment.notOpen);
    await gateway.post(`/v1/payments/${raw}/refund`, { idempotencyKey: newKey() });
    const spent = (await show(`/payments/${raw}`, 'pt-BR')).text;
    expect(spent).to.include(PT.payment.cannotRefund).and.include(PT.payment.notDisputable);
  });
  it('lists its webhooks, and links from an event to its request and back', async () => {
    const url = `https://example.com/${newKey()}`;
    await gateway.post('/v1/webhooks/endpoints', { url, events: ['charge.created'] });
    const made = await gateway.charge<{ id: string }>(
      { amount: 700 },
      { headers: { 'x-request-id': 'asked-for-this' } },
    );
    const raw = rawIdOf(made.body.id);
    const { text } = await show(`/payments/${raw}`);
    expect(text.slice(text.indexOf(`<h2>${EN.pages.webhooks}`))).to.include('charge.created');
    const link = /href="([^"]*\?request=asked-for-this)"/.exec(text)?.[1]?.slice(AT.length) ?? '';
    await gateway.writeRequests();
    const found = await show(link);
    expect(found.status).to.equal(303);
    const request = await show((found.headers.get('location') ?? '').slice(AT.length));
    expect(request.text)
      .to.include('POST /v1/charges')
      .and.include(`${AT}/payments/${raw}`)
      .and.include('asked-for-this');
  });
  it('shows no requests of another account, and says when a request wrote no events', async () => {
    const tenant = await gateway.newTenant();
    await gateway.get('/v1/wallets', { key: tenant.testKey, headers: { 'x-request-id': 'of-a-stranger' } });
    await gateway.get('/v1/charges/none', { headers: { 'x-request-id': 'of-mine' } });
    await gateway.writeRequests();
    expect((await show('/developers/requests?request=of-a-stranger')).text).to.include(EN.developers.noRequests);
    const [stranger] = await gateway.gateway.services.requestsWithId(tenant.accountId, 'of-a-stranger');
    expect((await show(`/developers/requests/log_${stranger?.id}`)).status).to.equal(404);
    const own = await show('/developers/requests?request=of-mine');
    const page = await show((own.headers.get('location') ?? '').slice(AT.length));
    expect(page.text).to.include(EN.developers.noEvents);
  });
  it('simulates card payments, chargebacks and failed refunds in test mode', async () => {
    const card = async () => {
      const body = { amount: 900, currency: 'BRL', paymentMethods: ['CREDIT_CARD'], idempotencyKey: newKey() };
      return (await gateway.post<{ id: string }>('/v1/payments', body)).body.id;
    };
    const status = async (raw: string) => (await gateway.get<{ status: string }>(`/v1/payments/${raw}`)).body.status;
    const [bought, declined] = [await card(), await card()];
    for (const as of ['authorize', 'chargeback'])
      expect((await send(`/payments/${bought}/act`, { as })).headers.get('location')).to.include('done=acted');
    expect(await status(bought)).to.equal('CHARGEBACK');
    await send(`/payments/${declined}/act`, { as: 'refuse' });
    expect(await status(declined)).to.equal('REFUSED');
    const again = await send(`/payments/${declined}/act`, { as: 'authorize' });
    expect([again.status, again.text.includes('The acquirer has declined CREDIT_CARD')]).to.deep.equal([422, true]);
    await gateway.post('/v1/sandbox/settings', { auto_confirm_refunds: false });
    const raw = await paid(800);
    const { id } = (await gateway.post<{ id: string }>(`/v1/payments/${raw}/refund`, { idempotencyKey: newKey() }))
      .body;
    expect((await show(`/payments/${raw}`)).text).to.include(EN.payment.bankFails);
    expect((await send(`/payments/${raw}/refunds/${id}/decide`, { as: 'failed' })).status).to.equal(303);
    await gateway.post('/v1/sandbox/settings', { auto_confirm_refunds: true });
    const { data } = (await gateway.get<{ data: { status: string }[] }>(`/v1/payments/${raw}/refunds`)).body;
    expect(data.map((one) => one.status)).to.deep.equal(['FAILED']);
  }).timeout(20_000);
  it('links to a payout’s receipt as PDF once the bank has decided', async () => {
    await paidCharge(gateway);
    await gateway.post('/v1/sandbox/settings', { auto_confirm_payouts: false });
    const body = { amount: 1, destination: { pix_key: 'ana@example.com' } };
    const { id } = (await gateway.post<{ id: string }>('/v1/payouts', body, { idempotencyKey: newKey() })).body;
    const at = `/payouts/${rawIdOf(id)}`;
    expect((await show(at)).text)
      .to.include(EN.payouts.noReceipt)
      .and.include(EN.payment.bankPays);
    expect((await show(`${at}/receipt.pdf`)).status).to.equal(404);
    expect((await send(`${at}/decide`, { as: 'paid' })).status).to.equal(303);
    await gateway.post('/v1/sandbox/settings', { auto_confirm_payouts: true });
    expect((await show(at)).text)
      .to.include(EN.payouts.receipt)
      .and.include(EN.payouts.alreadyDecided);
    const receipt = await show(`${at}/receipt.pdf`);
    expect([receipt.headers.get('content-type'), receipt.text.slice(0, 5)]).to.deep.equal(['application/pdf', '%PDF-']);
  });
  it('adds its releases to the wallet by day', async () => {
    const tenant = await gateway.newTenant();
    const user = await gateway.addUser('OWNER', { tenant });
    const body = { amount: 900, currency: 'BRL', paymentMethods: ['CREDIT_CARD'], idempotencyKey: newKey() };
    const { id } = (await gateway.post<{ id: string }>('/v1/payments', body, { key: tenant.testKey })).body;
    await gateway.post(`/v1/sandbox/payments/${id}/authorize`, {}, { key: tenant.testKey });
    const headers = { accept: 'text/html', 'accept-language': 'en', ...cookieOf(await gateway.logIn('OWNER', user)) };
    const { text } = await gateway.call('GET', `${AT}/wallet`, { key: null, headers });
    const releases = text.slice(text.indexOf(EN.wallet.releases), text.indexOf(EN.wallet.byDay));
    const { pendingBalance } = (await gateway.get<{ pendingBalance: number }[]>('/v1/wallets', { key: tenant.testKey }))
      .body[0] ?? { pendingBalance: 0 };
    expect(releases).to.match(new RegExp(`<td>R\\$ ${(pendingBalance / 100).toFixed(2)}</td><td>1</td>`));
  });
});
