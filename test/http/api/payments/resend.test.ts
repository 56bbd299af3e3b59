// POST /v1/payments/{id}/resend-webhook (contract.md Payments; rules W2, W8): sends the events of the current status again, as new
// deliveries.

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
  /** Returns all messages received, after all pending deliveries. */
  const hits = async (): Promise<readonly Hit[]> => {
    await shop.flush();
    return receiver.got.filter(({ path }) => url.endsWith(path.slice('/hook'.length)));
  };
  /** Returns the messages received since `before`. */
  const again = async (before: readonly Hit[]): Promise<readonly Hit[]> => (await hits()).slice(before.length);
  const types = (some: readonly Hit[]) => some.map(typeOf).toSorted();
  const events = (id: string) => eventTypes(gateway, PAYMENT.stream(rawIdOf(id) as PaymentId));

  it('sends the same events and bytes of the current status in new, signed deliveries', async () => {
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

  it('sends once per request, also under concurrency', async () => {
    const { id } = await shop.charge();
    const first = await hits();
    for (let n = 0; n < 2; n++) expect(await resend(id)).to.deep.equal({ resent: true, status: 'WAITING_PAYMENT' });
    await Promise.all(Array.from({ length: 5 }, () => resend(id)));
    const all = await again(first);
    expect(types(all)).to.deep.equal([...Array(7).fill('charge.created'), ...Array(7).fill('payment.created')]);
    expect(new Set(all.map(deliveryIdOf)).size).to.equal(14);
  });

  it('sends charge.expired, payment.expired and payment.failed for an expired payment', async () => {
    const { id } = await shop.charge({ expires_in: 60 });
    await shop.advance(61);
    const first = await hits();
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'EXPIRED' });
    expect(types(await again(first))).to.deep.equal(['charge.expired', 'payment.expired', 'payment.failed']);
  });

  it('sends the original payload of a payment that was canceled long ago, immediately', async () => {
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

  it('sends only payment.refunded after a full refund, and the settlement after a partial one', async () => {
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

  it('sends the settlement after a dispute was won, as no such event exists for its end', async () => {
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
  it('sends the events of the latest dispute', async () => {
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
  it('sends to endpoints registered after the event', async () => {
    await shop.delete(endpoint);
    const { id } = await shop.charge();
    await shop.flush();
    endpoint = await shop.register(url, ['charge.created']);
    expect(await resend(id)).to.deep.equal({ resent: true, status: 'WAITING_PAYMENT' });
    expect(types(await hits())).to.deep.equal(['charge.created']);
  });

  describe('sends nothing, returns resent: false and still counts as a resend (M7)', () => {
    const expectNothing = async (id: string, status: string) => {
      const [first, before] = [await hits(), await events(id)];
      expect(await resend(id)).to.deep.equal({ resent: false, status });
      // Endpoints registered afterwards don’t receive it, as they did not exist at the request.
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
    it('if no endpoint subscribes to the events', async () => {
      await shop.delete(endpoint);
      await shop.register(url, ['charge.paid']);
      const { id } = await shop.charge();
      await expectNothing(id, 'WAITING_PAYMENT');
    });
    it('if only a status change was ever sent for the status', async () => {
      const { id } = await shop.charge({ expected_payer_tax_id: '12345678909', customer: { name: 'Ana' } });
      await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { document: null } }, shop);
      await expectNothing(id, 'PROCESSING');
    });
  });

  it('returns 404 for IDs that are invalid, unknown, or of another account or mode', async () => {
    const { id } = await shop.charge();
    const { tenant } = await Merchant.open(gateway);
    for (const bad of ['nonsense', '0'.repeat(26)])
      expectError(await gateway.post(`/v1/payments/${bad}/resend-webhook`, {}, shop), 404, 'not_found');
    for (const key of [tenant.testKey, tenant.liveKey])
      expectError(await gateway.post(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, { key }), 404, 'not_found');
  });
});
