// What a merchant’s receiver gets, and how the gateway reacts to failures (rules W1–W4, W6; contract.md Delivery behaviour).
import { expect } from 'chai';
import { scheduleMessages } from '../../../../application/webhooks/webhookFanOut.ts';
import type { EndpointId } from '../../../../domain/kernel/ids.ts';
import { WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { answering, deliveryIdOf, expectSigned, gate, refuses, refusesFor } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import { type Body, type Delivery, Merchant } from '../../../world/merchant.ts';
import { paymentStream, poison } from '../../../world/poison.ts';
import { type Hit, typeOf } from '../../../world/receiver.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

const CREATED_AND_PAID = [
  'charge.created',
  'charge.paid',
  'payment.completed',
  'payment.created',
  'payment.status_changed',
];
const eventIdOf = ({ headers }: Hit): string => String(headers['webhook-id']);

describe('webhook deliveries', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let clock: StoppableClock;
  const receivers = deliveryScene((opened, own, standing) => {
    gateway = opened;
    merchant = own;
    clock = standing;
  });
  describe('on the wire', () => {
    it('are signed in all three forms with each endpoint’s own secret', async () => {
      const receiver = await receivers.open();
      const endpoints = [
        { path: '/a', ...(await merchant.register(`${receiver.url}/a`)) },
        { path: '/b', ...(await merchant.register(`${receiver.url}/b`)) },
      ];
      const startedSeconds = Math.floor(Date.now() / 1_000);
      const charge = await merchant.charge({ metadata: { note: 'ação “ü” 🙂' } });
      await merchant.pay(charge.id);
      await merchant.flush();
      for (const { path, secret } of endpoints) {
        const hits = receiver.got.filter((hit) => hit.path.endsWith(path));
        expect(hits.map(typeOf).sort()).to.deep.equal(CREATED_AND_PAID);
        for (const hit of hits) {
          const isCanonical = typeOf(hit).startsWith('charge.');
          expectSigned(hit, secret, isCanonical ? 'canonical' : 'legacy');
          expect(hit.headers).to.include({
            'content-type': 'application/json; charset=utf-8',
            'content-length': String(Buffer.byteLength(hit.rawBody)),
            'x-acme-event-type': typeOf(hit),
          });
          expect(deliveryIdOf(hit)).to.match(/^wd_[0-9a-hjkmnp-tv-z]{26}$/);
          expect(eventIdOf(hit)).to.match(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
          if (isCanonical) expect(hit.body['id']).to.equal(eventIdOf(hit));
          expect(Number(hit.headers['webhook-timestamp'])).to.be.within(startedSeconds, Date.now() / 1_000);
        }
      }
    });
    it('share an event ID across endpoints, and have one delivery ID per event and endpoint', async () => {
      const receiver = await receivers.open();
      for (const path of ['a', 'b', 'c']) await merchant.register(`${receiver.url}/${path}`);
      const charge = await merchant.charge();
      await merchant.pay(charge.id);
      await merchant.flush();
      expect(receiver.got.length).to.equal(3 * CREATED_AND_PAID.length);
      expect(new Set(receiver.got.map(deliveryIdOf)).size).to.equal(receiver.got.length);
      for (const type of CREATED_AND_PAID) {
        const same = receiver.got.filter((hit) => typeOf(hit) === type);
        expect(new Set(same.map(eventIdOf)).size).to.equal(1);
        expect(new Set(same.map(({ rawBody }) => rawBody)).size).to.equal(1);
      }
      expect(new Set(receiver.got.map(eventIdOf)).size).to.equal(CREATED_AND_PAID.length);
    });
    it('keep bytes and IDs at every attempt, and are signed anew in real time', async () => {
      const receiver = await receivers.open(refuses);
      const { secret } = await merchant.register(receiver.url, ['charge.created']);
      const charge = await merchant.charge();
      await merchant.flush();
      await merchant.pay(charge.id); // the payload is frozen and keeps saying pending
      await merchant.advance(3_600);
      expect(receiver.got.length).to.be.above(4);
      const [first] = receiver.got as [Hit];
      expect((first.body['data'] as { object: Body }).object).to.include({ id: charge.id, status: 'pending' });
      for (const hit of receiver.got) {
        expect([hit.rawBody, deliveryIdOf(hit), eventIdOf(hit)]).to.deep.equal([
          first.rawBody,
          deliveryIdOf(first),
          eventIdOf(first),
        ]);
        expectSigned(hit, secret, 'canonical');
        expect(hit.at / 1_000 - Number(hit.headers['webhook-timestamp'])).to.be.within(0, 60);
      }
      const { id, payload } = await merchant.delivery();
      expect([id, JSON.stringify(payload)]).to.deep.equal([deliveryIdOf(first), first.rawBody]);
    });
  });

  describe('per endpoint', () => {
    it('contain only the events an endpoint subscribes to', async () => {
      const receiver = await receivers.open();
      for (const [path, events] of [
        ['paid', ['charge.paid']],
        ['two', ['payment.created', 'charge.paid', 'charge.expired']],
        ['all', ['*']],
      ] as const)
        await merchant.register(`${receiver.url}/${path}`, events);
      const charge = await merchant.charge();
      await merchant.pay(charge.id);
      await merchant.flush();
      const told = (path: string) =>
        receiver.got
          .filter((hit) => hit.path === `/hook/${path}`)
          .map(typeOf)
          .sort();
      expect([told('paid'), told('two'), told('all')]).to.deep.equal([
        ['charge.paid'],
        ['charge.paid', 'payment.created'],
        CREATED_AND_PAID,
      ]);
    });
    it('contain no event from before the endpoint’s registration', async () => {
      const charge = await merchant.charge();
      await merchant.flush();
      const receiver = await receivers.open();
      await merchant.register(receiver.url);
      await merchant.pay(charge.id);
      await merchant.flush();
      expect(receiver.got.map(typeOf).sort()).to.deep.equal([
        'charge.paid',
        'payment.completed',
        'payment.status_changed',
      ]);
    });
    it('stop for a deleted endpoint and continue for others', async () => {
      const receiver = await receivers.open();
      const gone = await merchant.register(`${receiver.url}/gone`);
      await merchant.register(`${receiver.url}/there`, ['charge.created']);
      await merchant.delete(gone);
      await merchant.charge();
      await merchant.flush();
      expect(receiver.got.map(({ path }) => path)).to.deep.equal(['/hook/there']);
    });
    it('are scheduled for the other endpoints if one is unreadable, and the job then fails', async () => {
      const { url } = await receivers.open();
      const { id } = await merchant.charge();
      const register = async () => rawIdOf((await merchant.register(url)).id) as EndpointId;
      const [sick, well] = [await register(), await register()];
      await poison(gateway, merchant.tenant, WEBHOOK_ENDPOINT.stream(sick));
      const scheduled: unknown[] = [];
      const { run } = scheduleMessages({
        ...gateway.gateway.needs,
        scheduled: {
          schedule: async (all) => {
            for (const { scheduled: one } of all) scheduled.push([one.delivery.endpointId, one.delivery.eventType]);
          },
        },
      });
      const event = { stream: paymentStream(id), revision: 1, endpointIds: [sick, well] };
      const failure = await run([event], null, false, new AbortController().signal).catch(({ name }: Error) => name);
      expect([failure, scheduled]).to.deep.equal([
        'PayloadsFailed',
        ['charge.created', 'payment.created'].map((type) => [well, type]),
      ]);
    });
    it('never go to another account or mode', async () => {
      const receiver = await receivers.open();
      const other = await Merchant.open(gateway);
      await other.register(`${receiver.url}/other`);
      const mine = await Merchant.open(gateway);
      const live = new Merchant(gateway, mine.tenant.liveKey);
      await live.register('https://example.com/live');
      await mine.register(`${receiver.url}/mine`, ['charge.created']);
      await mine.charge();
      await mine.flush();
      expect(receiver.got.map(({ path }) => path)).to.deep.equal(['/hook/mine']);
      const { id } = await mine.delivery();
      const nothing = { data: [], total: 0, limit: 25, offset: 0 };
      expect([await other.deliveries(), await live.deliveries()]).to.deep.equal([nothing, nothing]);
      const { endpointId } = await mine.delivery();
      expect(await other.deliveries(`?endpointId=${endpointId}`)).to.deep.equal(nothing);
      expect(id).to.equal(deliveryIdOf(receiver.got[0]!));
    });
  });

  describe('to failing endpoints', () => {
    it('don’t delay those to others', async () => {
      const { script } = gate(); // accepts connections and never answers
      const [dead, well] = [await receivers.open(script), await receivers.open()];
      await merchant.register(dead.url, ['charge.created']);
      await merchant.register(well.url, ['charge.created']);
      const charges = await Promise.all(Array.from({ length: 40 }, () => merchant.charge()));
      await Promise.all(
        charges.map(({ id }) => well.until(({ body }) => (body['data'] as { object: Body }).object['id'] === id)),
      );
      expect(well.got.length).to.equal(40);
      expect(dead.got.length).to.be.within(1, 40);
    });
    it('hold back new first attempts while the endpoint fails, and send them once a retry succeeds', async () => {
      let isWell = false;
      clock.stop();
      const receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
      await merchant.register(receiver.url, ['charge.created']);
      for (let i = 0; i < 3; i++) {
        await merchant.charge();
        await merchant.flush();
        clock.pass(1);
      }
      const failing = new Set(receiver.got.map(deliveryIdOf));
      const waiting = [await merchant.charge()];
      clock.pass(1);
      waiting.push(await merchant.charge());
      await merchant.flush(2);
      expect([failing.size, receiver.got.length]).to.deep.equal([3, 3]);
      const { data } = await merchant.deliveries();
      expect(data.map(({ status, attempts }) => [status, attempts])).to.deep.equal(
        [0, 0, 1, 1, 1].map((n) => ['PENDING', n]),
      );
      isWell = true;
      await merchant.advance(60);
      expect(receiver.got.slice(3).length).to.equal(5);
      expect(failing.has(deliveryIdOf(receiver.got[3]!))).to.equal(true); // the probe went first
      const healed = (await merchant.deliveries()).data;
      expect(healed.map(({ status, attempts }) => [status, attempts])).to.deep.equal(
        [1, 1, 2, 2, 2].map((n) => ['DELIVERED', n]),
      );
      expect(healed.slice(0, 2).map(({ payload }) => (payload['data'] as { object: Body }).object['id'])).to.deep.equal(
        waiting.map(({ id }) => id).reverse(),
      );
    });
  });

  describe('of a deleted endpoint', () => {
    const areCancelled = (all: readonly Delivery[]) => all.every(({ status }) => status === 'CANCELLED');
    it('are canceled immediately and not retried', async () => {
      const receiver = await receivers.open(refusesFor(600));
      const endpoint = await merchant.register(receiver.url, ['charge.created', 'payment.created']);
      for (let i = 0; i < 4; i++) {
        await merchant.charge();
        await merchant.flushed(); // after three failures, new ones wait
      }
      const tried = receiver.got.length;
      expect(tried).to.be.within(3, 4);
      await merchant.delete(endpoint);
      const cancelled = await merchant.untilDeliveries(areCancelled);
      expect(cancelled.length).to.equal(8);
      for (const { nextRetryAt, deliveredAt } of cancelled)
        expect([nextRetryAt, deliveredAt]).to.deep.equal([null, null]);
      await merchant.advance(86_400);
      expect([receiver.got.length, (await merchant.deliveries()).data]).to.deep.equal([tried, cancelled]);
    });
    for (const [status, expected] of [
      [500, 'CANCELLED'],
      [200, 'DELIVERED'],
    ] as const)
      it(`are ${expected} if under way at the deletion and answered ${status}`, async () => {
        const { script, open } = gate(status);
        const receiver = await receivers.open(script);
        const endpoint = await merchant.register(receiver.url, ['charge.created']);
        await merchant.charge();
        await receiver.until(() => true);
        await merchant.delete(endpoint);
        open();
        const [delivery] = await merchant.untilDeliveries(([one]) => one?.status === expected);
        expect(delivery).to.include({ attempts: 1, lastStatusCode: status, nextRetryAt: null });
      });
    it('stay delivered if they were', async () => {
      const receiver = await receivers.open();
      const endpoint = await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      await merchant.flush();
      const delivered = await merchant.delivery();
      await merchant.delete(endpoint);
      await merchant.flush();
      expect(await merchant.delivery())
        .to.deep.equal(delivered)
        .and.include({ status: 'DELIVERED', attempts: 1 });
    });
  });
});
