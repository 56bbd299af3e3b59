// An endpoint that keeps failing and one that recovers (rules W3, X7): what waits, what is sent as a probe, and when the rest follows.
import { expect } from 'chai';
import { answering, deliveryIdOf, failedAttempts, secondsFrom } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, type Delivery, type Endpoint, Merchant } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';
import { type Hit, type Receiver, typeOf } from '../../../world/receiver.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

describe('an endpoint that keeps failing', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let isWell: boolean;
  let receiver: Receiver;
  let endpoint: Endpoint;
  let clock: StoppableClock;
  const receivers = deliveryScene((opened, own, standing) => {
    gateway = opened;
    merchant = own;
    clock = standing;
  });
  beforeEach(async () => {
    isWell = false;
    receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
    endpoint = await merchant.register(receiver.url, ['charge.created']);
  });
  const chargeOf = ({ body }: Pick<Hit, 'body'>) => (body['data'] as { object: Body }).object['id'];
  const chargesOf = (hits: readonly Hit[]) => hits.map(chargeOf);
  /** Creates three failures in a row, one per charge. */
  const fail = async (one: Merchant = merchant) => {
    for (let n = 0; n < 3; n++) {
      await one.charge();
      await one.flush();
      clock.pass(1);
    }
  };
  const waiting = (all: readonly Delivery[]) => all.filter(({ attempts }) => attempts === 0);
  const resend = async (id: string) =>
    (await gateway.post<Body>(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, merchant)).body;

  it('holds back first attempts, with the time of the next probe, never in the past', async () => {
    clock.stop();
    await fail();
    const before = clock.now();
    await merchant.charge();
    await merchant.flush(1);
    const { data } = await merchant.deliveries();
    const [held, ...retries] = data as [Delivery, ...Delivery[]];
    expect(held).to.include({ status: 'PENDING', attempts: 0 });
    // The first retry is the probe.
    expect(held.nextRetryAt).to.equal(retries.map(({ nextRetryAt }) => nextRetryAt!).toSorted()[0]);
    for (const { nextRetryAt } of data) expect(Date.parse(nextRetryAt!)).to.be.at.least(before);
    expect(receiver.got.length).to.equal(3);
  });

  it('gets the oldest waiting delivery as a probe once a minute, with its own attempts', async () => {
    await fail();
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n++) ids.push((await merchant.charge()).id);
    await merchant.flush(3);
    await merchant.advance(150);
    const all = (await merchant.deliveries()).data;
    expect(waiting(all).map((one) => chargeOf({ body: one.payload }))).to.deep.equal([ids[2]]);
    const probes = all.filter((one) => ids.slice(0, 2).includes(chargeOf({ body: one.payload })));
    const firsts: string[] = [];
    for (const { id } of probes.toReversed()) firsts.push((await failedAttempts(gateway, id))[0]!.at);
    expect(secondsFrom(firsts[0]!, firsts[1]!)).to.equal(60);
    expect(secondsFrom((await failedAttempts(gateway, all.at(-3)!.id))[0]!.at, firsts[0]!)).to.equal(60);
    await merchant.flush(1);
  });

  it('gets everything within 60 s, once, when it recovers after 2.5 minutes', async () => {
    await fail();
    for (let n = 0; n < 5; n++) {
      await merchant.charge();
      await merchant.advance(30);
    }
    isWell = true;
    const tried = receiver.got.length;
    await merchant.charge();
    await merchant.advance(60);
    await merchant.flush(); // delivered by something that came after the jump
    const { data, total } = await merchant.deliveries();
    expect([total, data.filter(({ status }) => status === 'DELIVERED').length]).to.deep.equal([9, 9]);
    const taken = receiver.got.slice(tried);
    expect([taken.length, new Set(taken.map(deliveryIdOf)).size]).to.deep.equal([9, 9]);
    await merchant.charge();
    await merchant.flush(); // the endpoint is healthy, so nothing waits
    expect(receiver.got.length).to.equal(tried + 10);
  });

  it('gets everything within 60 s when it recovers after 8 hours', async () => {
    await fail();
    for (let n = 0; n < 8; n++) {
      await merchant.charge();
      await merchant.advance(3_600);
    }
    const { now: ill } = await merchant.clock();
    isWell = true;
    const { id } = await merchant.charge();
    await merchant.advance(60);
    await merchant.flush(); // deliveries released by something that came after the jump
    // A slow machine may still be sending when the flush returns.
    const all = await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'DELIVERED'));
    expect(all).to.have.length(12);
    expect(chargesOf(receiver.got)).to.include(id);
    for (const { deliveredAt } of all) expect(deliveredAt! >= ill).to.equal(true);
  });

  it('gets a resend immediately as a probe, whose success releases the rest', async () => {
    clock.stop();
    await fail();
    const { id } = await merchant.charge();
    await merchant.flush(1);
    expect(await resend(id)).to.include({ resent: true });
    await merchant.flush(1);
    expect([receiver.got.length, chargeOf(receiver.got[3]!)]).to.deep.equal([4, id]);
    isWell = true;
    clock.start();
    expect(await resend(id)).to.include({ resent: true });
    const all = await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'DELIVERED'));
    expect([all.length, receiver.got.length]).to.deep.equal([6, 10]);
  });

  it('that rejects only some messages gets each retry early once, not after each success', async () => {
    const bad = new Set<unknown>();
    const picky = await receivers.open(answering((hit) => (bad.has(chargeOf(hit)) ? 500 : 200)));
    await merchant.delete(endpoint);
    await merchant.register(picky.url, ['charge.created']);
    const refused: string[] = [];
    // The receiver gets a charge’s webhook while it is created, so three charges are marked as rejected afterwards and resent.
    const failing = await Promise.all(Array.from({ length: 3 }, () => merchant.charge()));
    await merchant.flush();
    for (const { id } of failing) bad.add(id);
    for (const { id } of failing) await resend(id);
    await merchant.flush();
    for (const { id, status } of (await merchant.deliveries()).data) if (status === 'PENDING') refused.push(id);
    expect(refused.length).to.equal(3);
    for (let n = 0; n < 8; n++) {
      await merchant.charge(); // a successful probe per minute
      await merchant.advance(60);
    }
    for (const id of refused) {
      const attempts = await failedAttempts(gateway, id);
      // 5, 30, 120 and 300 s, of which one may be skipped: in 8 minutes there are at most six attempts.
      expect(attempts.length).to.be.within(4, 6);
    }
  });

  it('at a webhookUrl holds back its own account only', async () => {
    clock.stop();
    await merchant.delete(endpoint);
    const other = await Merchant.open(gateway);
    const toUrl = async (one: typeof merchant, path: string) => {
      const order = { ...ORDERS['PIX'], webhookUrl: `${receiver.url}/${path}` };
      await new PaymentDesk(gateway, one.tenant).waiting(order); // two messages
    };
    for (let n = 0; n < 2; n++) await toUrl(merchant, 'mine');
    const told = (path: string) => receiver.got.filter((hit) => hit.path.endsWith(path)).map(typeOf);
    await merchant.flushed();
    expect(told('mine').length).to.be.within(3, 4);
    await toUrl(merchant, 'mine/else'); // the same host
    expect(await merchant.flushed()).to.be.within(2, 3);
    expect(told('else')).to.deep.equal([]);
    await toUrl(other, 'others');
    await other.flushed();
    expect(told('others').length).to.equal(2);
  });

  it('has pending deliveries canceled and nothing held back when deleted', async () => {
    clock.stop();
    await fail();
    await merchant.charge();
    await merchant.flush(1);
    await merchant.delete(endpoint);
    await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'CANCELLED'));
    await merchant.flush(0);
    await merchant.advance(86_400);
    expect(receiver.got.length).to.equal(3);
  });

  it('gets exactly 15 attempts per delivery within a year', async () => {
    await fail();
    for (let n = 0; n < 2; n++) await merchant.charge();
    await merchant.flush(2);
    const { status } = await merchant.tryAdvance({ seconds: 31_536_000 });
    const { whenClockDrained } = gateway.gateway.services;
    if (status === 202) expect(await whenClockDrained(merchant.tenant.accountId, 20_000)).to.equal(true);
    const { data } = await merchant.deliveries();
    expect(data.map(({ status, attempts }) => [status, attempts])).to.deep.equal(Array(5).fill(['FAILED', 15]));
    expect(receiver.got.length).to.equal(75);
  });

  it('is still known after a restart', async () => {
    const database = await startedDatabase();
    let open = await openReady({ database });
    try {
      const shop = new Merchant(open, open.tenant.testKey);
      await shop.register(receiver.url, ['charge.created']);
      await fail(shop);
      await open.close();
      open = await openReady({ database });
      const again = new Merchant(open, shop.key);
      const tried = receiver.got.length;
      await again.charge();
      await again.flush(1);
      expect(waiting((await again.deliveries()).data).length).to.equal(1);
      isWell = true;
      await again.advance(60);
      await again.flush();
      expect((await again.deliveries()).data.map(({ status }) => status)).to.deep.equal(Array(4).fill('DELIVERED'));
      expect(receiver.got.length).to.be.at.least(tried + 4);
    } finally {
      await open.close();
      await database.drop();
    }
  });
});
