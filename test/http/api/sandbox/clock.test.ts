// The test clock of an account: everything due within a jump happens in order, at its own instant (rules X5, I4, M2, M4, W3).
import { expect } from 'chai';
import {
  ALL_RETRIES_SECONDS,
  answering,
  deliveryIdOf,
  expectAbout,
  expectSchedule,
  failedAttempts,
  MAX_ATTEMPTS,
  refuses,
  secondsFrom,
} from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError } from '../../../world/http.ts';
import { type Body, type Clock, eventOf, Merchant, openHolding } from '../../../world/merchant.ts';
import { typeOf } from '../../../world/receiver.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

const DAY = 86_400;
const YEAR = 31_536_000;

/** Expects real time plus the offset, as precisely as the test can know it. */
const expectNow = ({ now, offset_seconds: offset }: Clock, startedMs: number) =>
  expect(Date.parse(now)).to.be.within(startedMs + offset * 1_000, Date.now() + offset * 1_000);

describe('the test clock', () => {
  let gateway: TestGateway;
  let merchant: Merchant & { tenant: { liveKey: string } };
  let clock: StoppableClock;
  const receivers = deliveryScene((opened, own, standing) => {
    gateway = opened;
    merchant = own;
    clock = standing;
  });
  describe('when read and advanced', () => {
    it('shows real time until it is moved', async () => {
      const startedMs = Date.now();
      const clock = await merchant.clock();
      expect(clock).to.deep.equal({ now: clock.now, offset_seconds: 0 });
      expect(clock.now).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expectNow(clock, startedMs);
    });
    it('adds up advances, returns what a read returns, and shows in created_at', async () => {
      const startedMs = Date.now();
      for (const [seconds, offset] of [
        [1, 1],
        [59, 60],
        [59, 119],
        [DAY, DAY + 119],
      ] as const) {
        const moved = await merchant.advance(seconds);
        expect(moved).to.deep.equal({ now: moved.now, offset_seconds: offset });
        expectNow(moved, startedMs);
        const read = await merchant.clock();
        expect(read).to.deep.equal({ now: read.now, offset_seconds: offset });
        expect(read.now >= moved.now).to.equal(true);
        const { createdAt, expiresAt } = await merchant.charge();
        expectNow({ now: createdAt, offset_seconds: offset }, startedMs);
        expect(secondsFrom(createdAt, expiresAt)).to.equal(3_600);
      }
    });
    it('accepts up to a year at once', async () => {
      expect((await merchant.advance(YEAR)).offset_seconds).to.equal(YEAR);
      expectError(await merchant.tryAdvance({ seconds: YEAR + 1 }), 400, 'invalid_request', 'seconds');
      expect((await merchant.clock()).offset_seconds).to.equal(YEAR);
    });
    for (const [body, param] of [
      [{ seconds: 0 }, 'seconds'],
      [{ seconds: -1 }, 'seconds'],
      [{ seconds: YEAR + 1 }, 'seconds'],
      [{ seconds: 1.5 }, 'seconds'],
      [{ seconds: '1' }, 'seconds'],
      [{ seconds: null }, 'seconds'],
      [{ seconds: true }, 'seconds'],
      [{ seconds: 1e300 }, 'seconds'],
      [{}, 'seconds'],
      [[], undefined],
      [1, undefined],
    ] as const)
      it(`rejects ${JSON.stringify(body)} and stays where it is`, async () => {
        expectError(await merchant.tryAdvance(body), 400, 'invalid_request', param);
        expect((await merchant.clock()).offset_seconds).to.equal(0);
      });
    it('rejects live keys', async () => {
      const live = new Merchant(gateway, merchant.tenant.liveKey);
      expectError(await live.get('/v1/sandbox/clock'), 403, 'mode_not_allowed');
      expectError(await live.tryAdvance({ seconds: 60 }), 403, 'mode_not_allowed');
      expectError(await live.tryAdvance({ seconds: 0 }), 403, 'mode_not_allowed');
      expect((await merchant.clock()).offset_seconds).to.equal(0);
    });
    it('leaves live mode and other accounts unchanged', async () => {
      const other = await Merchant.open(gateway);
      const charge = await other.charge({ expires_in: 60 });
      const startedMs = Date.now();
      await merchant.advance(30 * DAY);
      expect((await other.clock()).offset_seconds).to.equal(0);
      expect(await other.statusOf(charge.id)).to.equal('pending');
      const createdAt = async (key: string) => {
        const one = new Merchant(gateway, key);
        await one.register('https://example.com/hook');
        const { body } = await one.get<{ data: { createdAt: string }[] }>('/v1/webhooks/endpoints');
        return body.data[0]!.createdAt;
      };
      expectNow({ now: await createdAt(merchant.tenant.liveKey), offset_seconds: 0 }, startedMs);
      expectNow({ now: await createdAt(merchant.key), offset_seconds: 30 * DAY }, startedMs);
    });
  });

  describe('charges that expire within a jump', () => {
    it('expire at their own instants in order, and send webhooks', async () => {
      const receiver = await receivers.open();
      await merchant.register(receiver.url, ['charge.expired', 'payment.expired']);
      const [late, first, paid, middle] = [
        await merchant.charge({ expires_in: 3_600 }),
        await merchant.charge({ expires_in: 60 }),
        await merchant.charge({ expires_in: 120 }),
        await merchant.charge({ expires_in: 300 }),
      ];
      const beyond = await merchant.charge({ expires_in: 7_500 });
      await merchant.pay(paid.id);
      await merchant.advance(7_200);
      const inOrder = [first, middle, late];
      for (const { id, expiresAt: at } of inOrder) {
        expect(await merchant.statusOf(id)).to.equal('expired');
        expect(await eventOf(gateway, id, 'ChargeExpired')).to.deep.equal({ at });
      }
      expect([await merchant.statusOf(paid.id), await merchant.statusOf(beyond.id)]).to.deep.equal(['paid', 'pending']);
      const told = (type: string) => receiver.got.filter((hit) => typeOf(hit) === type);
      expect(
        told('charge.expired').map(({ body }) => [(body['data'] as { object: Body }).object['id'], body['created_at']]),
      ).to.deep.equal(inOrder.map(({ id, expiresAt: at }) => [id, at]));
      expect(told('payment.expired').map(({ body }) => (body['data'] as Body)['occurredAt'])).to.deep.equal(
        inOrder.map(({ expiresAt: at }) => at),
      );
      const { data, total } = await merchant.deliveries('?eventType=charge.expired');
      expect(total).to.equal(3);
      expect(data.map(({ status, createdAt, deliveredAt }) => [status, createdAt, deliveredAt])).to.deep.equal(
        inOrder.map(({ expiresAt: at }) => ['DELIVERED', at, at]).reverse(),
      );
    });
    it('expire in the last second of a jump and not before, only once', async () => {
      const charge = await merchant.charge({ expires_in: 600 });
      await merchant.advance(590);
      expect(await merchant.statusOf(charge.id)).to.equal('pending');
      await merchant.advance(10);
      expect(await merchant.statusOf(charge.id)).to.equal('expired');
      await merchant.advance(DAY);
      expect(await eventOf(gateway, charge.id, 'ChargeExpired')).to.deep.equal({ at: charge.expiresAt });
    });
  });

  describe('deliveries due within a jump', () => {
    it('are retried on schedule to the last attempt; another jump adds none', async () => {
      const receiver = await receivers.open(refuses);
      await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      await merchant.flush();
      await merchant.advance(ALL_RETRIES_SECONDS);
      const delivery = await merchant.delivery();
      const attempts = await expectSchedule(gateway, delivery, MAX_ATTEMPTS);
      expect(delivery).to.include({
        status: 'FAILED',
        attempts: MAX_ATTEMPTS,
        maxAttempts: MAX_ATTEMPTS,
        lastStatusCode: 500,
        lastResponseBody: 'no',
        nextRetryAt: null,
        deliveredAt: null,
        updatedAt: attempts.at(-1)!.at,
      });
      await merchant.advance(ALL_RETRIES_SECONDS);
      expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
      expect(await merchant.delivery()).to.deep.equal(delivery);
    });
    it('stop at the end of the jump and continue with the next one', async () => {
      const receiver = await receivers.open(refuses);
      await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      await merchant.flush();
      const { now } = await merchant.advance(60); // attempts 2 and 3: at the latest after 6 + 36 s; 4: not before 96 s
      const paused = await merchant.delivery();
      expect(paused).to.include({ status: 'PENDING', attempts: 3 });
      expect(paused.nextRetryAt! > now).to.equal(true);
      await merchant.advance(200);
      expect(await merchant.delivery()).to.include({ status: 'PENDING', attempts: 4 });
      expect((await failedAttempts(gateway, paused.id)).at(-1)!.at).to.equal(paused.nextRetryAt);
    });
    it('succeed once the receiver recovers, and are not sent again', async () => {
      const receiver = await receivers.open(answering((_hit, n) => (n <= 4 ? 503 : 204)));
      await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      await merchant.flush();
      await merchant.advance(ALL_RETRIES_SECONDS);
      const delivery = await merchant.delivery();
      const failed = await expectSchedule(gateway, delivery, 4);
      expect(receiver.got.length).to.equal(5);
      expect(delivery).to.include({
        status: 'DELIVERED',
        attempts: 5,
        lastStatusCode: 204,
        lastError: null,
        nextRetryAt: null,
        deliveredAt: failed.at(-1)!.nextAttemptAt,
      });
    });
    it('fail, are retried and end in the jump that created them', async () => {
      const receiver = await receivers.open(refuses);
      await merchant.register(receiver.url, ['charge.expired']);
      const charge = await merchant.charge({ expires_in: 3_600 });
      await merchant.advance(3_600 + ALL_RETRIES_SECONDS);
      const delivery = await merchant.delivery();
      expect(delivery).to.include({ status: 'FAILED', attempts: MAX_ATTEMPTS, createdAt: charge.expiresAt });
      const attempts = await expectSchedule(gateway, delivery, MAX_ATTEMPTS);
      expect([attempts[0]!.at, receiver.got.length]).to.deep.equal([charge.expiresAt, MAX_ATTEMPTS]);
    });
    it('succeed in the jump that created them, at the time of the retry', async () => {
      const receiver = await receivers.open(answering((_hit, n) => (n === 1 ? 500 : 200)));
      await merchant.register(receiver.url, ['charge.expired']);
      const charge = await merchant.charge({ expires_in: 60 });
      await merchant.advance(DAY);
      const delivery = await merchant.delivery();
      expect(delivery).to.include({ status: 'DELIVERED', attempts: 2, createdAt: charge.expiresAt });
      expectAbout(secondsFrom(charge.expiresAt, delivery.deliveredAt!), 5);
    });
    it('are sent in order of time while they wait for a probe of a failing endpoint', async () => {
      const receiver = await receivers.open(answering((_hit, n) => (n <= 20 ? 500 : 200)));
      await merchant.register(receiver.url, ['charge.expired']);
      const charges = [];
      for (let i = 0; i < 8; i++) charges.push(await merchant.charge({ expires_in: 60 + i }));
      await merchant.advance(ALL_RETRIES_SECONDS);
      const { data } = await merchant.deliveries();
      expect(data.map(({ status }) => status)).to.deep.equal(Array(8).fill('DELIVERED'));
      const instants: string[] = [];
      for (const hit of receiver.got) {
        const id = String(hit.headers['x-acme-delivery-id']);
        const nth = receiver.got
          .slice(0, receiver.got.indexOf(hit) + 1)
          .filter((seen) => seen.headers['x-acme-delivery-id'] === id).length;
        const failed = (await failedAttempts(gateway, id))[nth - 1];
        instants.push(failed?.at ?? data.find((delivery) => delivery.id === id)!.deliveredAt!);
      }
      expect(instants).to.deep.equal(instants.toSorted());
      expect(charges.length).to.equal(data.length);
    });
    it('are sent when real time reaches them if they are due after the jump', async () => {
      const receiver = await receivers.open(answering((_hit, n) => (n <= 3 ? 500 : 200)));
      await merchant.register(receiver.url, ['charge.expired']);
      clock.stop();
      for (let i = 0; i < 4; i++) {
        await merchant.charge({ expires_in: 60 });
        clock.pass(100);
      }
      const { now } = await merchant.advance(62); // the first retry is due 4 s after the first expiry at the earliest
      const waiting = (await merchant.deliveries()).data.find(({ attempts }) => attempts === 0);
      expect(waiting).to.include({ status: 'PENDING', attempts: 0 });
      clock.start();
      await receiver.until((hit) => deliveryIdOf(hit) === waiting!.id);
      await merchant.flush();
      const delivered = (await merchant.deliveries()).data.find(({ id }) => id === waiting!.id);
      expect(delivered).to.include({ status: 'DELIVERED', attempts: 1 });
      expect(delivered!.deliveredAt! > now).to.equal(true);
    });
  });

  describe('held money', () => {
    const balance = async (held: Merchant) => (await held.get('/v1/wallets/balance?currency=BRL')).body;
    it('becomes available once, at its own instant after the account’s hold days', async () => {
      const held = await openHolding(gateway, 2);
      const charge = await held.charge({ amount: 10_000 });
      await held.pay(charge.id);
      const { availableAt, at } = (await eventOf(gateway, charge.id, 'TransactionSettled')) as {
        availableAt: string;
        at: string;
      };
      expect(secondsFrom(at, availableAt)).to.equal(2 * DAY);
      const pending = {
        available: 0,
        pending: 9_890,
        currency: 'BRL',
        next_release_at: availableAt,
        next_release_amount: 9_890,
      };
      expect(await balance(held)).to.deep.equal(pending);
      await held.advance(2 * DAY - 60);
      expect(await balance(held)).to.deep.equal(pending);
      const available = {
        available: 9_890,
        pending: 0,
        currency: 'BRL',
        next_release_at: null,
        next_release_amount: null,
      };
      for (const seconds of [60, DAY]) {
        await held.advance(seconds);
        expect(await balance(held)).to.deep.equal(available);
      }
      expect(await eventOf(gateway, charge.id, 'TransactionFundsReleased')).to.include({
        amount: 9_890,
        at: availableAt,
      });
    });
    it('is released separately for two Pix settled at different times', async () => {
      const held = await openHolding(gateway, 2);
      const [first, second] = [
        await held.charge({ amount: 10_000 }),
        await held.charge({ amount: 20_000, expires_in: DAY }),
      ];
      await held.pay(first.id);
      await held.advance(3_600);
      await held.pay(second.id);
      expect(await balance(held)).to.include({ available: 0, pending: 9_890 + 19_790, next_release_amount: 9_890 });
      await held.advance(2 * DAY - 1_800);
      const { availableAt } = (await eventOf(gateway, second.id, 'TransactionSettled')) as { availableAt: string };
      expect(await balance(held)).to.deep.equal({
        available: 9_890,
        pending: 19_790,
        currency: 'BRL',
        next_release_at: availableAt,
        next_release_amount: 19_790,
      });
      await held.advance(1_800);
      expect(await balance(held)).to.include({ available: 9_890 + 19_790, pending: 0, next_release_at: null });
    });
  });
});
