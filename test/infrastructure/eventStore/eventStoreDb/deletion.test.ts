// Deleted deliveries that EventStoreDB still stores until a scavenge, and deletions that encounter a fault (ADR 0008).
import { expect } from 'chai';
import type { Sql } from '../../../../application/ports/sql.ts';
import { readStreamName } from '../../../../domain/kernel/aggregate.ts';
import type { DeliveryId, StreamName } from '../../../../domain/kernel/ids.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { idsOf, newEvents, newStream, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { EventStoreDbServer } from '../../../support/eventStoreDb/server.ts';

const ALWAYS = '9999-12-31';
const NO_DATABASE = null as unknown as Sql;

describe('deleting from the log in EventStoreDB', () => {
  let server: EventStoreDbServer;
  let stores: Awaited<ReturnType<typeof openEventStoreDb>>[] = [];
  const open = async () => {
    const store = await openEventStoreDb({ connectionString: server.connectionString });
    stores.push(store);
    return store;
  };
  beforeEach(async () => {
    server = await EventStoreDbServer.start();
    stores = [];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  });

  type Store = Awaited<ReturnType<typeof open>>;
  const written = async (store: Store, category: string, count: number) => {
    const stream = newStream(category);
    const events = newEvents(count);
    expect((await store.append(stream, -1, events)).ok).to.equal(true);
    return { stream, ids: idsOf(events) };
  };
  const remove = (store: Store, stream: StreamName, revision: number) =>
    store.deleteDeliveries([{ id: readStreamName(stream).id as DeliveryId, revision }], ALWAYS, NO_DATABASE);
  /** Returns what a new subscription receives, and whether it reached the head. */
  const followed = async () => {
    const store = await open();
    const subscription = new TestSubscription(store);
    await subscription.until(({ caughtUp }) => caughtUp.length > 0);
    await subscription.stop();
    return { ids: idsOf(subscription.events), isAtHead: subscription.caughtUp.at(-1) === (await store.head()) };
  };

  it('a subscription skips deleted events before, during and after a scavenge', async () => {
    const store = await open();
    const first = await written(store, 'payment', 1);
    const gone = await written(store, 'webhookDelivery', 3);
    const kept = await written(store, 'webhookDelivery', 2);
    expect((await remove(store, gone.stream, 2)).size).to.equal(1);
    const left = { ids: [...first.ids, ...kept.ids], isAtHead: true };
    expect(server.records.filter(({ stream }) => stream === gone.stream).length).to.equal(4);
    expect(await followed()).to.deep.equal(left);
    const half = server.records.findIndex(({ stream }) => stream === gone.stream) + 2;
    server.scavenge(half);
    expect(await followed()).to.deep.equal(left);
    server.scavenge();
    expect(await followed()).to.deep.equal(left);
  });

  it('the log distinguishes deleted deliveries from unknown ones, also after a scavenge', async () => {
    const store = await open();
    const [gone, kept] = [await written(store, 'webhookDelivery', 1), await written(store, 'webhookDelivery', 1)];
    await remove(store, gone.stream, 0);
    const streams = [gone.stream, kept.stream, newStream('webhookDelivery')];
    const known = () => Promise.all(streams.map((one) => store.isDeleted(readStreamName(one).id as DeliveryId)));
    expect(await known()).to.deep.equal([true, false, false]);
    server.scavenge();
    expect(await known()).to.deep.equal([true, false, false]);
  });

  it('a deletion survives a lost connection', async () => {
    const store = await open();
    const { stream } = await written(store, 'webhookDelivery', 1);
    server.busy('Server Is Not Ready');
    const removed = remove(store, stream, 0);
    server.cut();
    server.busy(null);
    expect((await removed).size).to.equal(1);
    expect((await remove(store, stream, 0)).size).to.equal(1);
  });

  it('all processes record a retention day once, however many deliveries they delete', async () => {
    const [one, other] = [await open(), await open()];
    for (const store of [one, other, one]) {
      const { stream } = await written(store, 'webhookDelivery', 1);
      expect((await remove(store, stream, 0)).size).to.equal(1);
    }
    const days = server.records.filter(({ stream }) => stream === 'quita_store-retention');
    expect(days.map(({ data }) => data)).to.deep.equal([`{"before":"${ALWAYS}"}`]);
  });
});
