// POST /v1/payments/{id}/resend-webhook (contract.md Payments; rules W2, W8): the present status told again, as fresh deliveries.

import { expect } from 'chai';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { deliveryIdOf, expectSigned } from '../../../world/deliveryFacts.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, type Endpoint, Merchant } from '../../../world/merchant.ts';
import { type Hit, Receiver, typeOf } from '../../../world/receiver.ts';

describe('resending webhooks', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let shop: Merchant;
  let url: string;
  let endpoint: Endpoint;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  beforeEach(async () => {
    const opened = await Merchant.open(gateway);
    shop = opened;
    url = `${receiver.url}/${opened.tenant.accountId}`;
    endpoint = await shop.register(url);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const resend = async (id: string): Promise<Body> => {
    const { status, body, text } = await gateway.post<Body>(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, shop);
    expect(status, text).to.equal(200);
    return body;
  };
  /** All that came, after all that was due. */
  const hits = async (): Promise<readonly Hit[]> => {
    await shop.flush();
    return receiver.got.filter(({ path }) => url.endsWith(path.slice('/hook'.length)));
  };
  /** What came again since `before`. */
  const again = async (before: readonly Hit[]): Promise<readonly Hit[]> => (await hits()).slice(before.length);
  const types = (some: readonly Hit[]) => some.map(typeOf).toSorted();
  const events = (id: string) => eventTypes(gateway, PAYMENT.stream(rawIdOf(id) as PaymentId));

  it('sends the pair of the present status: same events and bytes, new deliveries, signed', async () => {
    const { id } = await shop.charge();
    await shop.pay(id);
    const first = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'PAID' });
    const second = await again(first);
    expect(types(second)).to.deep.equal(['charge.paid', 'payment.completed']);
    expect(first.map(({ headers }) => Number(headers['x-acme-sequence'])).toSorted()).to.deep.equal([1, 2, 3, 4, 5]);
    for (const hit of second) {
      const original = first.find((one) => typeOf(one) === typeOf(hit)) as Hit;
      expect(hit.rawBody).to.equal(original.rawBody);
      expect(hit.headers['x-acme-sequence']).to.equal(original.headers['x-acme-sequence']);
      expect(hit.headers['webhook-id']).to.equal(original.headers['webhook-id']);
      expect(deliveryIdOf(hit)).to.match(/^wd_[0-9a-z]{26}$/);
      expect(deliveryIdOf(hit)).to.not.equal(deliveryIdOf(original));
      expectSigned(hit, endpoint.secret, typeOf(hit).startsWith('charge.') ? 'canonical' : 'legacy');
    }
    expect((await shop.deliveries('?eventType=charge.paid')).data.map(({ status }) => status)).to.deep.equal([
      'DELIVERED',
      'DELIVERED',
    ]);
  });

  it('twice is two resends, five at once are five', async () => {
    const { id } = await shop.charge();
    const first = await hits();
    for (let n = 0; n < 2; n++) expect(await resend(id)).to.deep.equal({ resent: true, status: 'WAITING_PAYMENT' });
    await Promise.all(Array.from({ length: 5 }, () => resend(id)));
    const all = await again(first);
    expect(types(all)).to.deep.equal([...Array(7).fill('charge.created'), ...Array(7).fill('payment.created')]);
    expect(new Set(all.map(deliveryIdOf)).size).to.equal(14);
  });

  it('an expired one: charge.expired, payment.expired and payment.failed', async () => {
    const { id } = await shop.charge({ expires_in: 60 });
    await shop.advance(61);
    const first = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'EXPIRED' });
    expect(types(await again(first))).to.deep.equal(['charge.expired', 'payment.expired', 'payment.failed']);
  });

  it('a cancelled one, told of long ago: what was told then, due now', async () => {
    const { id } = await shop.charge();
    await gateway.post(`/v1/payments/${rawIdOf(id)}/cancel`, {}, shop);
    const first = await hits();
    await shop.advance(86_400);
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'CANCELLED' });
    expect(types(await again(first))).to.deep.equal(['charge.failed', 'payment.failed']);
    const [newest, oldest] = (await shop.deliveries('?eventType=charge.failed')).data;
    expect(Date.parse(newest!.createdAt) - Date.parse(oldest!.createdAt)).to.be.at.least(86_400_000);
    expect(newest!.payload).to.deep.equal(oldest!.payload);
  });

  it('a refunded one: payment.refunded alone; one refunded in part is still paid', async () => {
    const { id } = await shop.charge({ amount: 1_000 });
    await shop.pay(id);
    const refund = async (amount: number) => {
      const body = { idempotencyKey: newKey(), amount };
      expect((await gateway.post(`/v1/payments/${rawIdOf(id)}/refund`, body, shop)).status).to.equal(201);
      await receiver.until((hit) => url.endsWith(hit.path.slice('/hook'.length)) && typeOf(hit) === 'payment.refunded');
      await shop.advance(60);
    };
    await refund(400);
    let first = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'PAID' });
    expect(types(await again(first))).to.deep.equal(['charge.paid', 'payment.completed']);
    await refund(600);
    first = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'REFUNDED' });
    expect(types(await again(first))).to.deep.equal(['payment.refunded']);
  });

  it('after a dispute was won: the settlement, because the end of the dispute has no message of that kind', async () => {
    const { id } = await shop.charge();
    await shop.pay(id);
    const opened = await gateway.post<Body>(`/v1/sandbox/charges/${id}/med`, {}, shop);
    const disputed = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'DISPUTE' });
    expect(types(await again(disputed))).to.deep.equal(['payment.failed']);
    await gateway.post(`/v1/sandbox/med/cases/${opened.body['id']}/decide`, { result: 'disagreed' }, shop);
    const won = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'PAID' });
    const second = await again(won);
    expect(types(second)).to.deep.equal(['charge.paid', 'payment.completed']);
    for (const hit of second) expect(hit.rawBody).to.equal(won.find((one) => typeOf(one) === typeOf(hit))?.rawBody);
  });
  it('after a second dispute: that of the latest opening', async () => {
    const { id } = await shop.charge();
    await shop.pay(id);
    for (const n of [1, 2]) {
      const opened = await gateway.post<Body>(`/v1/sandbox/charges/${id}/med`, { reason: `${n}` }, shop);
      if (n === 1) await gateway.post(`/v1/sandbox/med/cases/${opened.body['id']}/withdraw`, {}, shop);
    }
    const before = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'DISPUTE' });
    const [again1] = await again(before);
    const failed = before.filter((one) => typeOf(one) === 'payment.failed');
    expect(failed).to.have.length(2);
    expect(again1?.headers['webhook-id']).to.equal(failed.at(-1)?.headers['webhook-id']);
  });
  it('to an endpoint registered after it happened', async () => {
    await shop.delete(endpoint);
    const { id } = await shop.charge();
    await shop.flush();
    endpoint = await shop.register(url, ['charge.created']);
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'WAITING_PAYMENT' });
    expect(types(await hits())).to.deep.equal(['charge.created']);
  });

  describe('resent: false, and nothing is sent; it counts as a resend (M7)', () => {
    const expectNothing = async (id: string, status: string) => {
      const [first, before] = [await hits(), await events(id)];
      expect(await resend(id)).to.deep.equal({ resent: false, status });
      // Whoever comes to want it later is not told: nobody wanted it when it was asked for.
      await shop.register(url);
      expect([(await again(first)).length, await events(id)]).to.deep.equal([
        0,
        [...before, 'ChargeWebhookResendRequested'],
      ]);
    };
    it('without endpoints', async () => {
      const { id } = await shop.charge();
      await shop.flush();
      await shop.delete(endpoint);
      await expectNothing(id, 'WAITING_PAYMENT');
    });
    it('when no endpoint wants it', async () => {
      await shop.delete(endpoint);
      await shop.register(url, ['charge.paid']);
      const { id } = await shop.charge();
      await expectNothing(id, 'WAITING_PAYMENT');
    });
    it('when nothing was ever sent of the status but its change', async () => {
      const { id } = await shop.charge({ expected_payer_tax_id: '12345678909', customer: { name: 'Ana' } });
      await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { document: null } }, shop);
      await expectNothing(id, 'PROCESSING');
    });
  });

  it('404 for an invalid id, an unknown one and another account’s', async () => {
    const { id } = await shop.charge();
    const { tenant } = await Merchant.open(gateway);
    for (const bad of ['nonsense', '0'.repeat(26)])
      expectError(await gateway.post(`/v1/payments/${bad}/resend-webhook`, {}, shop), 404, 'not_found');
    for (const key of [tenant.testKey, tenant.liveKey])
      expectError(await gateway.post(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, { key }), 404, 'not_found');
  });
});
