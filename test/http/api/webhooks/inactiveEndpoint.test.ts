// An endpoint that its merchant sets to inactive: what waits, for how long, and what starts over (rules W3, W6).
import { expect } from 'chai';
import { answering, secondsFrom } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import type { Body, Endpoint, Merchant } from '../../../world/merchant.ts';
import type { Receiver } from '../../../world/receiver.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

const DAY_SECONDS = 86_400;

describe('an inactive endpoint', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
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
  const patch = async (body: Body) => {
    const { status, text } = await gateway.call('PATCH', `/v1/webhooks/endpoints/${endpoint.id}`, {
      body,
      key: merchant.key,
    });
    expect(status, text).to.equal(200);
  };
  const statuses = async () => (await merchant.deliveries()).data.map(({ status }) => status);
  const health = async () =>
    (await merchant.get<{ data: { health: { state: string; waiting: number } }[] }>('/v1/webhooks/endpoints')).body
      .data[0]?.health;
  /** Creates a delivery that has failed once. */
  const failOnce = async () => {
    await merchant.charge();
    await merchant.flush();
    clock.pass(1);
  };

  it('receives no new deliveries, nor those later', async () => {
    isWell = true;
    await patch({ status: 'INACTIVE' });
    await merchant.charge();
    await merchant.flush();
    expect((await merchant.deliveries()).total).to.equal(0);
    await patch({ status: 'ACTIVE' });
    await merchant.charge();
    await merchant.flush();
    expect([receiver.got.length, await statuses()]).to.deep.equal([1, ['DELIVERED']]);
  });
  it('has pending deliveries wait, and receives them all when it is active again', async () => {
    clock.stop();
    for (let n = 0; n < 2; n++) await failOnce();
    await patch({ status: 'INACTIVE' });
    await merchant.advance(6 * DAY_SECONDS);
    expect([receiver.got.length, await statuses()]).to.deep.equal([2, ['PENDING', 'PENDING']]);
    const { data } = await merchant.deliveries();
    expect(data.map(({ nextRetryAt }) => nextRetryAt)).to.deep.equal([null, null]);
    isWell = true;
    await patch({ status: 'ACTIVE' });
    await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
    expect(receiver.got.length).to.equal(4);
  });
  it('has them canceled seven days of account time after it became inactive', async () => {
    clock.stop();
    await failOnce();
    await patch({ status: 'INACTIVE' });
    const { now } = await merchant.clock();
    await merchant.advance(7 * DAY_SECONDS - 60);
    expect(await statuses()).to.deep.equal(['PENDING']);
    await merchant.advance(60);
    const cancelled = await merchant.delivery();
    expect(cancelled).to.include({ status: 'CANCELLED', attempts: 1, nextRetryAt: null });
    expect(secondsFrom(now, cancelled.updatedAt)).to.equal(7 * DAY_SECONDS);
    isWell = true;
    await patch({ status: 'ACTIVE' });
    await merchant.charge();
    await merchant.flush();
    expect((await statuses()).toSorted()).to.deep.equal(['CANCELLED', 'DELIVERED']);
    expect(receiver.got.length).to.equal(2);
  });
  it('restarts the seven days each time it becomes inactive', async () => {
    await failOnce();
    await patch({ status: 'INACTIVE' });
    await merchant.advance(5 * DAY_SECONDS);
    await patch({ status: 'ACTIVE' });
    await merchant.untilDeliveries(([one]) => one?.attempts === 2);
    await patch({ status: 'INACTIVE' });
    await merchant.advance(5 * DAY_SECONDS);
    expect(await statuses()).to.deep.equal(['PENDING']);
    await merchant.advance(2 * DAY_SECONDS);
    expect(await statuses()).to.deep.equal(['CANCELLED']);
  });
  it('receives no resends', async () => {
    isWell = true;
    const { id } = await merchant.charge();
    await merchant.flush();
    await patch({ status: 'INACTIVE' });
    const { body } = await gateway.post(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, merchant);
    expect(body).to.include({ resent: false });
    await merchant.flush();
    expect(receiver.got.length).to.equal(1);
  });
  it('has them canceled immediately when it is deleted', async () => {
    await failOnce();
    await patch({ status: 'INACTIVE' });
    await merchant.delete(endpoint);
    await merchant.untilDeliveries(([one]) => one?.status === 'CANCELLED');
    expect(receiver.got.length).to.equal(1);
  });

  describe('or one with a new URL, after repeated failures', () => {
    /** Creates four charges: three failed, and the fourth is held back. */
    const fail = async () => {
      clock.stop();
      for (let n = 0; n < 3; n++) await failOnce();
      await merchant.charge();
      await merchant.flush(1);
      expect(await health()).to.include({ state: 'failing', waiting: 1 });
    };
    const HEALTHY = { state: 'healthy', failingSince: null, lastError: null, waiting: 0 };

    it('receives held-back deliveries immediately at the new URL', async () => {
      await fail();
      const other = await receivers.open();
      await patch({ url: other.url });
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect([receiver.got.length, other.got.length, await health()]).to.deep.equal([3, 4, HEALTHY]);
    });
    it('receives held-back deliveries immediately when it is active again', async () => {
      await fail();
      await patch({ status: 'INACTIVE' });
      isWell = true;
      await patch({ status: 'ACTIVE' });
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect([receiver.got.length, await health()]).to.deep.equal([7, HEALTHY]);
    });
    it('still counts as failing after a change of events', async () => {
      await fail();
      await patch({ events: ['charge.created', 'charge.paid'] });
      await merchant.flush(1);
      expect([receiver.got.length, (await health())?.state]).to.deep.equal([3, 'failing']);
    });
  });

  it('receives newly subscribed events from then on', async () => {
    isWell = true;
    const { id } = await merchant.charge();
    await merchant.flush();
    await patch({ events: ['charge.paid'] });
    await merchant.pay(id);
    await merchant.charge();
    await merchant.flush();
    expect(receiver.got.map(({ headers }) => headers['x-acme-event-type'])).to.deep.equal([
      'charge.created',
      'charge.paid',
    ]);
  });
});
