// POST /ops/v1/held/{id}/settle (rule M10), with a sandbox bank that refuses returns (X6), and confirmations after a failure.

import { expect } from 'chai';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { createMetrics } from '../../../../infrastructure/monitoring/metrics.ts';
import type { TestGateway, TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { type Hit, Receiver, typeOf } from '../../../world/receiver.ts';
import { refusedReturn } from '../../../world/refusedReturn.ts';

const KEY = 'tesouraria@example.com';
const REASON = 'The payer’s account is closed.';
const REFUSAL = 'The sandbox bank refuses returns of this charge.';

describe('a return that the bank refuses for good', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let shop: Merchant & { readonly tenant: TestTenant };
  let headers: { readonly authorization: string };
  let url: string;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
    headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  beforeEach(async () => {
    shop = await Merchant.open(gateway);
    url = `${receiver.url}/${shop.tenant.accountId}`;
    await shop.register(url);
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await expectLedgerBalances(gateway);
  });

  const ask = <T = Body>(method: string, path: string, body?: unknown) =>
    gateway.call<T>(method, path, { key: null, headers, ...(body !== undefined && { body }) });
  const settle = (id: string, body: Body) => ask('POST', `/ops/v1/held/${id}/settle`, { reason: REASON, ...body });
  const waiting = async (id: string): Promise<readonly Body[]> => {
    expect(await gateway.gateway.projected.caughtUp(20_000)).to.equal(true);
    const { body } = await ask<{ data: readonly Body[] }>('GET', '/ops/v1/held?limit=1000');
    return body.data.filter(({ paymentId }) => paymentId === `tx_${rawIdOf(id)}`);
  };
  const until = async (id: string, status: string): Promise<void> => {
    const look = async () => ((await shop.statusOf(id)) === status ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look), `${status} within 20 s`).to.equal(true);
  };
  /** Returns the messages about the payment, after all pending deliveries. */
  const told = async (): Promise<readonly Hit[]> => {
    await shop.flush();
    return receiver.got.filter(({ path }) => path === new URL(url).pathname);
  };
  const dataOf = (hits: readonly Hit[], type: string): Body =>
    (hits.find((hit) => typeOf(hit) === type) as unknown as { body: { data: Body } }).body.data;
  const posted = async (id: string): Promise<readonly (readonly [string, number])[]> => {
    const { body } = await ask<{
      postings: readonly { account: string; amount: number }[];
      differences: readonly string[];
    }>('GET', `/ops/v1/ledger/payments/${id}`);
    expect(body.differences).to.deep.equal([]);
    return body.postings.map(({ account, amount }) => [account, amount]);
  };
  const events = (id: string) => eventTypes(gateway, PAYMENT.stream(rawIdOf(id) as PaymentId));

  it('is listed with its reason, paid out by Pix to the given key, and ends refunded with payment.refunded', async () => {
    const { id, pix } = await refusedReturn(gateway, shop);
    expect(await shop.statusOf(id)).to.equal('processing');
    const [one, ...more] = await waiting(id);
    expect(more).to.deep.equal([]);
    expect(one).to.deep.include({ providerPaymentId: pix, reason: 'payer_mismatch', returnRefused: REFUSAL });
    const { body, status, text } = await settle(id, { pixOut: KEY });
    expect(status, text).to.equal(200);
    expect(body).to.deep.equal({ paymentId: `tx_${rawIdOf(id)}`, status: 'PROCESSING', isNew: true });
    expectError(await settle(id, { pixOut: KEY }), 409, 'held_already_settled');
    await until(id, 'refunded');
    expect(await waiting(id)).to.deep.equal([]);
    expectError(await settle(id, { writtenOff: true }), 409, 'held_already_settled');
    expect((await posted(id)).slice(2)).to.deep.equal([
      ['payer_returns', -10_000],
      ['provider_clearing', 10_000],
      ['provider_fees', 50],
      ['platform_fees', -50],
    ]);
    expect((await shop.get<Body>('/v1/wallets/balance')).body).to.include({ available: 0, total: 0 });
    expect((await shop.get<Body>(`/v1/charges/${id}`)).body).to.include({ amount_refunded: 10_000 });
    const hits = await told();
    expect(hits.map(typeOf).filter((type) => type.startsWith('payout') || type === 'charge.paid')).to.deep.equal([]);
    expect(dataOf(hits, 'payment.refunded')).to.include({
      status: 'REFUNDED',
      refundId: null,
      refundedAmount: 10_000,
      refundedTotal: 10_000,
    });
  });
  it('is refunded at once when written off, at the platform’s expense', async () => {
    const { id } = await refusedReturn(gateway, shop);
    const { body } = await settle(id, { writtenOff: true });
    expect(body).to.deep.equal({ paymentId: `tx_${rawIdOf(id)}`, status: 'REFUNDED', isNew: true });
    await until(id, 'refunded');
    expect((await posted(id)).slice(2)).to.deep.equal([
      ['payer_returns', -10_000],
      ['platform_fees', 10_000],
    ]);
    expect((await told()).map(typeOf)).to.include('payment.refunded');
  });
  it('is refused again when requested again, and stays listed', async () => {
    const { id } = await refusedReturn(gateway, shop);
    expect((await ask('POST', `/ops/v1/held/${id}/return`, {})).status).to.equal(200);
    const look = async () => ((await events(id)).at(-1) === 'TransactionReturnRefused' ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
    expect((await waiting(id)).map(({ reason }) => reason)).to.deep.equal(['payer_mismatch']);
  });
  it('of a wrong amount leaves the charge payable', async () => {
    const { id } = await refusedReturn(gateway, { key: shop.key, amount: 9_999 });
    expect((await settle(id, { pixOut: KEY })).status).to.equal(200);
    const look = async () => ((await events(id)).at(-1) === 'TransactionHeldPayoutPaid' ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
    expect(await shop.statusOf(id)).to.equal('pending');
    expect((await told()).map(typeOf)).to.not.include('payment.refunded');
    expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, shop)).body['outcome']).to.equal('settled');
  });
  it('gets 400 for an invalid body or if nothing was refused, and 404 for an unknown payment', async () => {
    const { id } = await refusedReturn(gateway, shop);
    const before = await events(id);
    for (const [body, param] of [
      [{}, 'pixOut'],
      [{ pixOut: KEY, writtenOff: true }, 'pixOut'],
      [{ writtenOff: false }, 'pixOut'],
      [{ pixOut: 'x' }, 'pixOut'],
      [{ pixOut: 7 }, 'pixOut'],
      [{ writtenOff: true, reason: ' ' }, 'reason'],
      [{ writtenOff: true, reason: 7 }, 'reason'],
    ] as const)
      expectError(await settle(id, body), 400, 'invalid_request', param);
    expectError(await ask('POST', `/ops/v1/held/${id}/settle`, { writtenOff: true }), 400, 'invalid_request', 'reason');
    expect(await events(id)).to.deep.equal(before);
    expectError(await settle(`ch_${'0'.repeat(26)}`, { writtenOff: true }), 404, 'not_found');
    const { id: unpaid } = await shop.charge();
    expectError(await settle(unpaid, { writtenOff: true }), 400, 'invalid_request');
    const own = await gateway.post(`/ops/v1/held/${id}/settle`, { writtenOff: true, reason: REASON }, shop);
    expect([401, 403]).to.include(own.status);
  });

  it('a refund paid by the bank after it failed is listed, counted in the metrics, and can be written off', async () => {
    const { id } = await shop.charge({ amount: 1_000 });
    await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, shop);
    await gateway.post('/v1/sandbox/settings', { auto_confirm_refunds: false }, shop);
    const asked = await gateway.post(`/v1/payments/${rawIdOf(id)}/refund`, { idempotencyKey: 'refund-1' }, shop);
    const refund = asked.body['id'] as string;
    const confirm = (body: Body) => gateway.post(`/v1/sandbox/refunds/${refund}/confirm`, body, shop);
    expect((await gateway.post(`/v1/sandbox/refunds/${refund}/fail`, {}, shop)).body['status']).to.equal('FAILED');
    const balance = async () => (await shop.get<Body>('/v1/wallets/balance')).body['available'];
    const available = await balance();
    expectError(await confirm({}), 400, 'invalid_request');
    for (let n = 0; n < 2; n++) expect((await confirm({ late: true })).status).to.equal(200);
    const look = async () => ((await waiting(id)).length > 0 ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
    expect((await waiting(id)).map(({ heldSince: _, ...rest }) => rest)).to.deep.equal([
      {
        paymentId: `tx_${rawIdOf(id)}`,
        accountId: `acct_${shop.tenant.accountId}`,
        mode: 'test',
        amount: 1_000,
        currency: 'BRL',
        providerPaymentId: refund,
        payerName: null,
        expectedPayerTaxId: null,
        reason: 'confirmed_late',
        returnRefused: null,
      },
    ]);
    expect(await createMetrics(gateway.gateway).registry.metrics()).to.match(/^quita_held_payments [1-9]/m);
    expect([await balance(), await shop.statusOf(id)]).to.deep.equal([available, 'paid']);
    expectError(await settle(id, { pixOut: KEY }), 400, 'invalid_request', 'pixOut');
    expect((await settle(id, { writtenOff: true })).body).to.include({ status: 'PAID', isNew: true });
    expectError(await settle(id, { writtenOff: true }), 409, 'held_already_settled');
    expect(await waiting(id)).to.deep.equal([]);
    expect((await events(id)).slice(-2)).to.deep.equal([
      'TransactionRefundConfirmedLate',
      'TransactionLateConfirmationWrittenOff',
    ]);
    expect((await posted(id)).slice(-6)).to.deep.equal([
      ['payer_returns', -1_000],
      ['provider_clearing', 1_000],
      ['provider_fees', 50],
      ['platform_fees', -50],
      ['payer_returns', 1_000],
      ['platform_fees', -1_000],
    ]);
  });

  it('of a second Pix leaves the release of the first one repeatable', async () => {
    const { id } = await shop.charge({
      amount: 10_000,
      expected_payer_tax_id: '12345678909',
      customer: { name: 'Ana Souza' },
      metadata: { sandbox_provider: 'return_refused' },
    });
    const pay = (name: string) =>
      gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { name, document: null } }, shop);
    const release = async () => (await ask('POST', `/ops/v1/held/${id}/release`)).body;
    const untilWaiting = async (reasons: readonly string[]): Promise<void> => {
      const look = async () => {
        const found = (await waiting(id)).map(({ reason }) => reason).toSorted();
        return JSON.stringify(found) === JSON.stringify(reasons) ? true : null;
      };
      expect(await pollUntil(gateway.gateway.projected, 20_000, look), reasons.join()).to.equal(true);
    };
    expect((await pay('ANA')).body['outcome']).to.equal('held');
    expect((await pay('BIA')).status).to.equal(200);
    await untilWaiting(['no_payer_document', 'second_payment']);
    expect(await release()).to.include({ status: 'PAID', isNew: true });
    await untilWaiting(['second_payment']);
    expect((await settle(id, { writtenOff: true })).body).to.include({ isNew: true });
    expect(await release()).to.include({ status: 'PAID', isNew: false });
    expectError(await settle(id, { writtenOff: true }), 409, 'held_already_settled');
  });
});
