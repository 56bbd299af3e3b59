// WEBHOOK_RETENTION_DAYS after its last event, a delivery is deleted on both stores: from lists, totals, retries and the log. Payments
// stay, read models agree with the remaining events, and a resend of an old payment creates new deliveries (ADR 0008).

import { expect } from 'chai';
import { DeliveryRetention } from '../../application/webhooks/retention.ts';
import { deliver } from '../../application/webhooks/webhookDelivery.ts';
import type { DeliveryId, PaymentId } from '../../domain/kernel/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { openStorage, type Storage } from '../../infrastructure/boot/storage.ts';
import { rebuild } from '../../projections/engine/rebuild.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { webhookDeliveriesProjection } from '../../projections/webhooks/projection.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { type TestGateway, testKeyring } from '../world/gateway.ts';
import { eventTypes, openReady, rawIdOf } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { Receiver } from '../world/receiver.ts';

const DAYS = 30;

const STORES: readonly { readonly name: string; readonly open: () => Promise<EventStoreDbServer | null> }[] = [
  { name: 'Postgres', open: async () => null },
  { name: 'EventStoreDB', open: () => EventStoreDbServer.start() },
];

for (const { name, open } of STORES)
  describe(`old deliveries, with the log in ${name}`, () => {
    let server: EventStoreDbServer | null;
    let database: TestDatabase;
    let gateway: TestGateway;
    let shop: Merchant;
    let receiver: Receiver;
    let aheadMs = 0;

    const openGateway = () =>
      openReady({
        database,
        webhookRetentionDays: DAYS,
        clock: { now: () => Date.now() + aheadMs },
        ...(server && { eventStoreUrl: server.connectionString }),
      });
    before(async () => {
      server = await open();
      database = await migratedDatabase();
      receiver = await Receiver.open((_hit, res) => void res.writeHead(200).end());
      gateway = await openGateway();
      shop = await Merchant.open(gateway);
    });
    after(async () => {
      expect(gateway.faults).to.deep.equal([]);
      await gateway.close();
      await receiver.close();
      await database.drop();
      await server?.stop();
    });

    /**
     * Runs the retention as if `days` had passed and returns the number of deleted deliveries. Each turn is two minutes later, because the
     * retention runs at most once a minute.
     */
    const deleteAfter = async (days: number, expected = 1) => {
      const { needs } = gateway.gateway;
      const [retention, { scheduled }] = [new DeliveryRetention(needs), needs];
      await gateway.newTenant(); // This puts an event of another kind at the end of the log.
      expect(await gateway.gateway.projected.caughtUp(30_000)).to.equal(true);
      const before = await retention.deleted();
      let deleted = 0;
      // The gateway’s own turn may be running at this moment. Then this turn does nothing and another one is needed.
      for (let turns = 0; deleted < expected && turns < 50; turns++) {
        await scheduled.sweepAll(); // Recent deliveries are recorded as scheduled for one more second.
        aheadMs = days * DAY_MS + turns * 2 * MINUTE_MS;
        const turn = retention.run(); // The clock is read first.
        aheadMs = 0;
        await turn;
        deleted = (await retention.deleted()) - before;
      }
      return deleted;
    };
    /** Opens a separate storage, as the command line does, without anything cached in memory. */
    const beside = async <T>(work: (storage: Storage) => Promise<T>): Promise<T> => {
      const storage = await openStorage(
        database.connectionString,
        server?.connectionString ?? null,
        testKeyring(),
        () => undefined,
      );
      return work(storage).finally(() => storage.close());
    };
    const differences = () =>
      beside(async (storage) => {
        const report = await verify(PROJECTIONS, storage, storage.openSession);
        return [...report.differences, ...report.parked];
      });
    const stats = async () => (await shop.get('/v1/webhooks/stats')).body;
    const notFound = async (path: string, method: 'get' | 'post') =>
      (method === 'get' ? await shop.get(path) : await gateway.post(path, {}, shop)).status;
    const deliveryStream = async (id: string) =>
      eventTypes(gateway, WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId));
    const paymentStream = async (id: string) => eventTypes(gateway, PAYMENT.stream(rawIdOf(id) as PaymentId));

    let charge: string;
    let deliveries: readonly string[];
    it('are kept until their retention period is over', async () => {
      await shop.register(receiver.url);
      charge = (await shop.charge()).id;
      await shop.pay(charge);
      await shop.flush();
      deliveries = (await shop.deliveries()).data.map(({ id }) => id);
      expect(deliveries.length).to.equal(5);
      expect(await deleteAfter(DAYS, 0)).to.equal(0);
      expect((await shop.deliveries()).total).to.equal(5);
      expect(await differences()).to.deep.equal([]);
    });

    it('are deleted everywhere, without changing the payment', async () => {
      const facts = await paymentStream(charge);
      expect(await deleteAfter(DAYS + 2)).to.equal(5);
      expect(await shop.deliveries()).to.deep.include({ data: [], total: 0 });
      expect((await shop.deliveries('?status=DELIVERED')).total).to.equal(0);
      expect(await stats()).to.deep.include({ total: 0, DELIVERED: 0 });
      for (const id of deliveries) {
        expect(await notFound(`/v1/webhooks/deliveries/${id}`, 'get')).to.equal(404);
        expect(await notFound(`/v1/webhooks/deliveries/${id}/retry`, 'post')).to.equal(404);
        expect(await deliveryStream(id)).to.deep.equal([]);
      }
      const redriven = await gateway.post('/v1/webhooks/deliveries/redrive', { status: 'FAILED' }, shop);
      expect([redriven.status, redriven.body]).to.deep.equal([202, { matched: 0, queued: 0 }]);
      expect(await paymentStream(charge)).to.deep.equal(facts);
      expect(await shop.statusOf(charge)).to.equal('paid');
    });

    it('leave read models consistent, before and after a rebuild and scavenges', async () => {
      expect(await differences()).to.deep.equal([]);
      const scavenges: readonly (() => void)[] = server
        ? [() => undefined, () => server?.scavenge(40), () => server?.scavenge()]
        : [() => undefined];
      for (const scavenge of scavenges) {
        scavenge();
        await beside((storage) => rebuild([webhookDeliveriesProjection], storage, storage.openSession));
        expect(await gateway.gateway.projected.caughtUp(30_000)).to.equal(true);
        expect(await differences()).to.deep.equal([]);
        expect((await shop.deliveries()).total).to.equal(0);
      }
    });

    it('are not recreated by a late job', async () => {
      const hits = receiver.got.length;
      const { accountId } = (await gateway.gateway.services.findKey(shop.key))!;
      for (const id of deliveries)
        await gateway.gateway.jobs.enqueue([
          {
            queue: deliver.name,
            tenant: { accountId, mode: 'test' },
            payload: { deliveryId: rawIdOf(id) as DeliveryId },
            target: 'x',
          },
        ]);
      await shop.flush();
      expect(await gateway.gateway.services.whenIdle(accountId, 30_000)).to.equal(true);
      expect([receiver.got.length - hits, (await shop.deliveries()).total]).to.deep.equal([0, 0]);
      for (const id of deliveries) expect(await deliveryStream(id)).to.deep.equal([]);
    });

    it('are replaced by new ones when the old payment is resent', async () => {
      const resent = await gateway.post(`/v1/payments/${rawIdOf(charge)}/resend-webhook`, {}, shop);
      expect([resent.status, resent.body]).to.deep.equal([200, { resent: true, status: 'PAID' }]);
      await shop.flush();
      const { data, total } = await shop.deliveries();
      expect([total, data.filter(({ id }) => deliveries.includes(id))]).to.deep.equal([2, []]);
      expect(data.map(({ status }) => status)).to.deep.equal(['DELIVERED', 'DELIVERED']);
      expect(await differences()).to.deep.equal([]);
    });

    it('don’t prevent a restarted program from continuing at checkpoints of deleted events', async () => {
      expect(await deleteAfter(DAYS + 3)).to.equal(2);
      server?.scavenge();
      await gateway.close();
      gateway = await openGateway();
      shop = new Merchant(gateway, shop.key);
      expect(await differences()).to.deep.equal([]);
      await shop.charge();
      await shop.flush();
      expect((await shop.deliveries()).total).to.equal(2);
    });
  });
