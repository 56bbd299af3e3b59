// Jumps of the test clock during other jumps or a shutdown of the gateway (rule X5).
import { expect } from 'chai';
import {
  ALL_RETRIES_SECONDS,
  expectSchedule,
  gate,
  MAX_ATTEMPTS,
  refuses,
  SCHEDULE_SECONDS,
} from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import { type Body, eventOf, Merchant } from '../../../world/merchant.ts';

describe('the test clock', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });

  describe('advanced concurrently', () => {
    it('handles a second jump during the first one, in order', async () => {
      const { script, open } = gate();
      const receiver = await receivers.open(script);
      await merchant.register(receiver.url, ['charge.expired']);
      const [early, late] = [await merchant.charge({ expires_in: 60 }), await merchant.charge({ expires_in: 3_600 })];
      const first = merchant.advance(120);
      await receiver.until(() => true);
      const second = merchant.advance(7_200);
      while ((await merchant.clock()).offset_seconds < 7_320); // both jumps are recorded
      open();
      expect((await second).offset_seconds).to.equal(7_320);
      expect((await first).offset_seconds).to.equal(7_320);
      for (const { id, expiresAt: at } of [early, late])
        expect(await eventOf(gateway, id, 'ChargeExpired')).to.deep.equal({ at });
      const ids = receiver.got.map(({ body }) => (body['data'] as { object: Body }).object['id']);
      expect(ids).to.deep.equal([early.id, late.id]);
    });
    it('adds up ten jumps of one account', async () => {
      await Promise.all(Array.from({ length: 10 }, () => merchant.advance(7)));
      expect((await merchant.clock()).offset_seconds).to.equal(70);
    });
    it('moves two accounts independently', async () => {
      const jumping = async (): Promise<void> => {
        const one = await Merchant.open(gateway);
        const receiver = await receivers.open(refuses);
        await one.register(receiver.url, ['charge.expired']);
        const charge = await one.charge({ expires_in: 60 });
        await one.advance(ALL_RETRIES_SECONDS);
        expect(await one.delivery()).to.include({
          status: 'FAILED',
          attempts: MAX_ATTEMPTS,
          createdAt: charge.expiresAt,
        });
        expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
      };
      await Promise.all([jumping(), jumping()]);
    });
  });

  it('makes one request per attempt when two processes share the jumps', async () => {
    const database = await startedDatabase();
    const one = await openReady({ database, isAlone: false });
    const other = await openReady({ database, isAlone: false });
    try {
      const receiver = await receivers.open(refuses);
      const jumping = new Merchant(one, one.tenant.testKey);
      await jumping.register(receiver.url, ['charge.created']);
      await jumping.charge();
      await jumping.flush();
      const seen: (readonly [number, number])[] = [];
      for (const seconds of SCHEDULE_SECONDS.slice(0, 10)) {
        await jumping.advance(Math.ceil(seconds * 1.2));
        seen.push([(await jumping.delivery()).attempts, receiver.got.length]);
      }
      const { attempts } = await jumping.delivery();
      expect(attempts).to.be.within(11, MAX_ATTEMPTS);
      expect(seen).to.deep.equal(seen.map(([made]) => [made, made]));
      await expectSchedule(one, await jumping.delivery(), attempts);
    } finally {
      await one.close();
      await other.close();
      await database.drop();
    }
  });

  it('resumes a jump after the gateway was stopped in the middle', async () => {
    const database = await startedDatabase();
    const before = await openReady({ database });
    let heard: () => void = () => undefined;
    const fifth = new Promise<void>((resolve) => {
      heard = resolve;
    });
    // The fifth attempt is never answered, so the gateway shuts down in the middle of it.
    const receiver = await receivers.open((_hit, res, n) => (n === 5 ? heard() : void res.writeHead(500).end()));
    const jumping = new Merchant(before, before.tenant.testKey);
    await jumping.register(receiver.url, ['charge.expired']);
    const [charge, held] = [await jumping.charge({ expires_in: 60 }), await jumping.charge({ expires_in: 86_400 })];
    const cut = jumping.tryAdvance({ seconds: 2 * ALL_RETRIES_SECONDS }).catch((error: Error) => error);
    await fifth;
    await before.close();
    expect(await cut).to.be.instanceOf(Error);
    const after = await openReady({ database });
    try {
      expect(await after.gateway.services.whenClockDrained(before.tenant.accountId, 10_000)).to.equal(true);
      const again = new Merchant(after, before.tenant.testKey);
      expect(await again.statusOf(held.id)).to.equal('expired');
      expect(await eventOf(after, held.id, 'ChargeExpired')).to.deep.equal({ at: held.expiresAt });
      const { data } = await again.deliveries();
      expect(data.map(({ status, attempts, createdAt }) => [status, attempts, createdAt])).to.deep.equal([
        ['FAILED', MAX_ATTEMPTS, held.expiresAt],
        ['FAILED', MAX_ATTEMPTS, charge.expiresAt],
      ]);
      expect((await again.clock()).offset_seconds).to.equal(2 * ALL_RETRIES_SECONDS);
    } finally {
      await after.close();
      await database.drop();
    }
  });
});
