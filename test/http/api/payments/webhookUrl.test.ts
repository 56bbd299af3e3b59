// A payment’s own webhookUrl (rule W7): its events go only there, signed with the account’s override secret.
import { expect } from 'chai';
import { expectSigned, Receivers } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { type Delivery, Merchant } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';
import { type Hit, Receiver, typeOf } from '../../../world/receiver.ts';

const CREATED = ['charge.created', 'payment.created'];
const PAID = ['charge.paid', 'payment.completed', 'payment.status_changed'];

describe('webhookUrl of a payment', () => {
  let gateway: TestGateway;
  let own: Receiver;
  let usual: Receiver;
  let desk: PaymentDesk;
  let shop: Merchant;
  before(async () => {
    gateway = await openReady();
    [own, usual] = [await Receiver.open(), await Receiver.open()];
  });
  after(async () => {
    await gateway.close();
    await Promise.all([own.close(), usual.close()]);
  });
  beforeEach(async () => {
    desk = await PaymentDesk.open(gateway);
    shop = new Merchant(gateway, desk.tenant.testKey);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const pathOf = (name: string) => `/hook/${desk.tenant.accountId}/${name}`;
  const urlOf = (name: string) => own.url.replace(/\/hook$/, pathOf(name));
  const paid = async (webhookUrl?: string): Promise<string> => {
    const order = { ...ORDERS['PIX'], ...(webhookUrl !== undefined && { webhookUrl }) };
    const id = await desk.waiting(order);
    await shop.pay(`ch_${id}`);
    return id;
  };
  /** Returns the messages received under this path, after all pending deliveries. */
  const hits = async (name: string): Promise<readonly Hit[]> => {
    await shop.flush();
    return own.got.filter(({ path }) => path === pathOf(name));
  };
  const types = (some: readonly Hit[]) => some.map(typeOf).toSorted();
  const rotate = async (key = shop.key): Promise<string> => {
    const { status, body, text } = await gateway.post<{ secret: string }>(
      '/v1/webhooks/override-secret/rotate',
      {},
      { key },
    );
    expect([status, Object.keys(body)], text).to.deep.equal([200, ['secret']]);
    expect(body.secret).to.match(/^[0-9a-f]{64}$/);
    return body.secret;
  };
  const formOf = (hit: Hit) => (typeOf(hit).startsWith('charge.') ? 'canonical' : 'legacy');

  it('replaces the endpoints for every event of both families, for its own payment only', async () => {
    await desk.listen(usual);
    const id = await paid(urlOf('one'));
    expect(types(await hits('one'))).to.deep.equal([...CREATED, ...PAID].toSorted());
    expect(desk.hits(usual)).to.deep.equal([]);
    const transactions = (await hits('one')).map(({ body }) => JSON.stringify(body).includes(id));
    expect(transactions).to.deep.equal([true, true, true, true, true]);

    await paid();
    await paid(urlOf('two'));
    expect(await desk.told(usual)).to.deep.equal([...CREATED, ...PAID].toSorted());
    expect(types(await hits('two'))).to.deep.equal([...CREATED, ...PAID].toSorted());
    expect((await hits('one')).length).to.equal(5);
  });

  it('works without any endpoint; its deliveries show no endpoint', async () => {
    await paid(urlOf('one'));
    expect(types(await hits('one'))).to.deep.equal([...CREATED, ...PAID].toSorted());
    const { data, total } = await shop.deliveries();
    expect([total, data.map(({ endpointId, status }) => [endpointId, status])]).to.deep.equal([
      5,
      Array(5).fill([null, 'DELIVERED']),
    ]);
    expect((await shop.deliveries(`?endpointId=we_${'0'.repeat(26)}`)).total).to.equal(0);
  });

  it('receives the events of a cancellation too', async () => {
    const id = await desk.waiting({ ...ORDERS['BOLETO'], webhookUrl: urlOf('one') });
    await gateway.post(`/v1/payments/${id}/cancel`, {}, desk.as);
    const failed = ['charge.failed', 'payment.failed', 'payment.status_changed'];
    expect(types(await hits('one'))).to.deep.equal([...CREATED, ...failed].toSorted());
  });

  it('receives resent webhooks', async () => {
    const id = await paid(urlOf('one'));
    const first = await hits('one');
    const { body } = await gateway.post(`/v1/payments/${id}/resend-webhook`, {}, desk.as);
    expect(body).to.deep.equal({ resent: true, status: 'PAID' });
    expect(types((await hits('one')).slice(first.length))).to.deep.equal(['charge.paid', 'payment.completed']);
  });

  it('is retried like an endpoint', async () => {
    const receivers = new Receivers();
    const url = await receivers.open((_hit, res, n) => void res.writeHead(n <= 2 ? 500 : 200).end());
    await desk.waiting({ ...ORDERS['PIX'], webhookUrl: url.url });
    await shop.flush();
    const failing: readonly Delivery[] = (await shop.deliveries()).data;
    expect(failing.map(({ status, attempts, lastStatusCode }) => [status, attempts, lastStatusCode])).to.deep.equal([
      ['PENDING', 1, 500],
      ['PENDING', 1, 500],
    ]);
    await shop.advance(60);
    expect((await shop.deliveries()).data.map(({ status, attempts }) => [status, attempts])).to.deep.equal([
      ['DELIVERED', 2],
      ['DELIVERED', 2],
    ]);
    await receivers.close();
  });

  describe('override secret', () => {
    it('signs from its rotation on; an unknown secret signs before', async () => {
      await paid(urlOf('before'));
      const [one] = await hits('before');
      const signature = one!.headers['x-acme-signature'];
      expect(signature).to.match(/^(sha256=[0-9a-f]{64}|t=\d{10},v1=[0-9a-f]{64})$/);

      const first = await rotate();
      await paid(urlOf('first'));
      const signed = await hits('first');
      expect(signed.length).to.equal(5);
      for (const hit of signed) expectSigned(hit, first, formOf(hit));

      const second = await rotate();
      expect(second).to.not.equal(first);
      await paid(urlOf('second'));
      for (const hit of await hits('second')) expectSigned(hit, second, formOf(hit));
    });

    it('is one of ten after ten concurrent rotations', async () => {
      const secrets = await Promise.all(Array.from({ length: 10 }, () => rotate()));
      expect(new Set(secrets).size).to.equal(10);
      await paid(urlOf('one'));
      const [hit] = await hits('one');
      const fits = secrets.filter((secret) => {
        try {
          expectSigned(hit!, secret, formOf(hit!));
          return true;
        } catch {
          return false;
        }
      });
      expect(fits.length).to.equal(1);
    });

    it('differs by account and mode', async () => {
      const mine = await rotate();
      const others = [await rotate(desk.tenant.liveKey), await rotate((await gateway.newTenant()).testKey)];
      expect(new Set([mine, ...others]).size).to.equal(3);
      await paid(urlOf('one'));
      for (const hit of await hits('one')) expectSigned(hit, mine, formOf(hit));
    });

    it('does not sign for endpoints', async () => {
      const endpoint = await shop.register(urlOf('endpoint'));
      await rotate();
      await shop.charge();
      const delivered = await hits('endpoint');
      expect(types(delivered)).to.deep.equal(CREATED);
      for (const hit of delivered) expectSigned(hit, endpoint.secret, formOf(hit));
    });

    it('is rotated only with a key', async () => {
      expectError(await gateway.post('/v1/webhooks/override-secret/rotate', {}, { key: null }), 401, 'unauthorized');
    });
  });
});
