// The log as the program sees it, among everything else on a server: the adapter's own events, other programs and checkpoints.
import { expect } from 'chai';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import {
  collect,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from '../../../conformance/eventStore/harness.ts';
import { PATIENT, startWorld, type World } from './support.ts';

describe('the log on EventStoreDB', () => {
  let world: World;

  beforeEach(async () => {
    world = await startWorld({}, PATIENT);
  });
  afterEach(async () => {
    await world.end();
  });

  it('keeps its identity when the server restarts', async () => {
    const { store, server, open } = world;
    await server.restart();
    expect((await open()).storeId).to.equal(store.storeId);
  });

  it('has one identity although many stores open it at once', async () => {
    const fresh = await startWorld({}, PATIENT);
    const stores = await Promise.all(Array.from({ length: 8 }, () => fresh.open()));
    expect(new Set(stores.map(({ storeId }) => storeId))).to.deep.equal(new Set([fresh.store.storeId]));
    expect(fresh.server.events.map(({ stream }) => stream)).to.deep.equal(['quita_store-identity']);
    await fresh.end();
  });

  it('returns data and metadata byte for byte, although they are stored as JSON', async () => {
    const { store } = world;
    const stream = newStream();
    const odd = newEvent({
      data: '{ "a": 1.0, "b":1e2,"a":"é",\n"n":12345678901234567890 }',
      metadata: '{"$correlationId":"p1", "$causationId":"e1"}',
    });
    await store.append(stream, -1, [odd]);
    const [read] = await collect(store.readStream(stream));
    const subscription = new TestSubscription(store);
    await subscription.until(({ events }) => events.length === 1);
    await subscription.stop();
    expect(read).to.include({ data: odd.data, metadata: odd.metadata });
    expect(subscription.events).to.deep.equal([read]);
  });

  it('includes only domain events in "all categories": no system events, no identity, no other programs', async () => {
    const { store, server } = world;
    const wanted: string[] = [];
    for (const category of ['payment', 'foreign', 'account', 'paymentette', 'keyring']) {
      server.writeSystemEvents(3);
      const event = newEvent();
      await store.append(newStream(category), -1, [event]);
      if (category !== 'foreign' && category !== 'paymentette') wanted.push(event.id);
    }
    const subscription = new TestSubscription(store);
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    await subscription.stop();
    expect(idsOf(subscription.events)).to.deep.equal(wanted);
    expect(await store.head()).to.equal(subscription.events.at(-1)?.position);
  });

  it('reports a subscription that has everything as caught up exactly at the head', async () => {
    const { store, server } = world;
    await store.append(newStream(), -1, newEvents(3));
    const subscription = new TestSubscription(store);
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    const head = await store.head();
    server.writeSystemEvents(5_000);
    for (let n = 0; n < 3; n++) await store.append(newStream('foreign'), -1, newEvents(500));
    const other = new TestSubscription(store, { categories: ['foreign'] });
    await other.until(({ caughtUp }) => caughtUp.length === 1);
    expect(await store.head()).to.equal(head);
    expect(subscription.signals.at(-1)).to.deep.equal({ kind: 'caughtUp', position: head });
    await store.append(newStream(), -1, newEvents(1));
    await subscription.until(({ events }) => events.length === 4);
    expect(subscription.events.at(-1)?.position).to.equal(await store.head());
    await Promise.all([subscription.stop(), other.stop()]);
    const positions = [...subscription.signals, ...other.signals.filter(({ kind }) => kind === 'checkpoint')];
    for (const { position } of positions) expect(position !== null && position <= (await store.head())!).to.equal(true);
  });

  it('sends checkpoints to a subscription of a rare category, never beyond the head, from which it resumes', async () => {
    const { store } = world;
    const rare = new TestSubscription(store, { categories: ['webhookEndpoint'] });
    await rare.until(({ caughtUp }) => caughtUp.length === 1);
    for (let n = 0; n < 3; n++) await store.append(newStream(), -1, newEvents(700));
    await rare.until(({ checkpoints }) => checkpoints.length > 0);
    await rare.stop();
    const position = rare.checkpoints.at(-1)!;
    expect(position <= (await store.head())!).to.equal(true);
    const event = newEvent();
    await store.append(newStream('webhookEndpoint'), -1, [event]);
    const resumed = new TestSubscription(store, { after: position, categories: ['webhookEndpoint'] });
    await resumed.until(({ caughtUp }) => caughtUp.length === 1);
    await resumed.stop();
    expect(idsOf(resumed.events)).to.deep.equal([event.id]);
  });

  it('rejects positions of another store and invalid categories', async () => {
    const { store } = world;
    const { signal } = new AbortController();
    const bad = [
      { after: '0000000000000000012' as never, categories: null },
      { after: null, categories: ['$ce'] },
      { after: null, categories: [] },
    ];
    for (const options of bad) {
      const error = await collect(store.subscribe({ ...options, signal })).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(RangeError);
    }
  });

  it('leaves no open connection', async () => {
    const { server, store, open } = world;
    const other = await open();
    const subscription = new TestSubscription(other);
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    await other.append(newStream(), -1, newEvents(2));
    await Promise.all([store.close(), other.close()]);
    await subscription.ended;
    await server.until(({ connections }) => connections === 0);
    expect(server.subscriptions).to.equal(0);
  });

  it('fails to open within its time limit if the server is unreachable', async () => {
    const { server } = world;
    const { connectionString } = server;
    await server.stop();
    const timings = { connectMs: 100, readGiveUpMs: 200 };
    const error = await openEventStoreDb({ connectionString, timings }).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.name).to.equal('EventStoreUnavailable');
    await server.restart();
  });
});
