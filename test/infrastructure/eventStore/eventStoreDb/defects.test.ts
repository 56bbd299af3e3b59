// The defects of the client package (README.md, "Client defects"): each one reproduced with the client, and the adapter's guard.
import { once } from 'node:events';
import { EventStoreDBClient, STREAM_NAME } from '@eventstore/db-client';
import { expect } from 'chai';
import {
  appendUntilAnswered,
  collect,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from '../../../conformance/eventStore/harness.ts';
import { clientEvent, PATIENT, QUICK, rejection, startWorld, uncaughtDuring, type World } from './support.ts';

const written = { ok: true, revision: 0 };
/** The client throws this for an answer that it no longer waits for. */
const LATE = 'TypeError: undefined is not iterable (cannot read property Symbol(Symbol.iterator))';

describe('defects of the EventStoreDB client', () => {
  let world: World;
  let clients: EventStoreDBClient[] = [];

  const clientOf = ({ server }: World, options = ''): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(`${server.connectionString}${options}`);
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    clients = [];
    world = await startWorld({ writeTimeoutMs: 60_000 });
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
    await world.end();
  });

  describe('B1: one table of pending appends for the whole process', () => {
    it('defect: the end of one connection rejects the appends of another, and the late answer throws', async () => {
      const other = await startWorld();
      const [one, two] = [clientOf(world), clientOf(other)];
      await two.appendToStream(newStream(), clientEvent());
      await one.appendToStream(newStream(), clientEvent());
      world.server.holdAppends();
      const stream = newStream();
      const held = rejection(one.appendToStream(stream, clientEvent(), { expectedRevision: 'no_stream' }));
      await world.server.until(({ appendsHeld }) => appendsHeld === 1);
      const thrown = await uncaughtDuring(async (anything) => {
        other.server.cut();
        expect((await held).message).to.equal('14 UNAVAILABLE: Connection dropped');
        world.server.releaseAppends();
        expect(await anything).to.be.instanceOf(TypeError);
      });
      expect(thrown.map(String))
        .to.have.length(1)
        .and.to.satisfy(([text]: string[]) => text?.includes('not iterable'));
      expect(world.written().filter((event) => event.stream === stream)).to.have.length(1);
      await other.end();
    });

    it('guard: each stream of appends has its own table', async () => {
      const other = await startWorld();
      world.server.holdAppends();
      const patient = await world.open({ attemptMs: 60_000, outcomeUnknownMs: 60_000 });
      const stream = newStream();
      const held = patient.append(stream, -1, [newEvent()]);
      await world.server.until(({ appendsHeld }) => appendsHeld === 1);
      await other.store.append(newStream(), -1, [newEvent()]);
      other.server.cut();
      await other.store.append(newStream(), -1, [newEvent()]);
      world.server.releaseAppends();
      expect(await held).to.deep.include(written);
      expect(world.written()).to.have.length(1);
      expect(world.reports.messages).to.deep.equal([]);
      await other.end();
    });
  });

  describe('a duplicate answer (B1, seen 4)', () => {
    it('defect: the second answer throws an uncaught exception', async () => {
      const client = clientOf(world);
      const thrown = await uncaughtDuring(async (anything) => {
        world.server.answerTwice();
        await client.appendToStream(newStream(), clientEvent());
        await anything;
      });
      expect(thrown.map(String)).to.deep.equal([LATE]);
    });

    it('guard: the second answer is reported, and the store continues', async () => {
      const { server, reports, open } = world;
      const store = await open(PATIENT);
      server.answerTwice();
      await store.append(newStream(), -1, [newEvent()]);
      await reports.until('after it was given up');
      expect(await store.append(newStream(), -1, [newEvent()])).to.deep.include(written);
      expect(reports.messages).to.have.length(1);
    });

    it('guard: an event that would cause duplicate answers is never sent', async () => {
      const { store, server } = world;
      const before = server.appendsReceived;
      expect((await rejection(store.append(newStream(), -1, [newEvent({ type: '' })]))).name).to.equal('InvalidAppend');
      const large = newEvents(3, { data: JSON.stringify({ a: 'x'.repeat(400_000) }) });
      expect((await rejection(store.append(newStream(), -1, large))).name).to.equal('InvalidAppend');
      expect(server.appendsReceived).to.equal(before);
    });
  });

  describe('B2: throwOnAppendFailure=false', () => {
    it('defect: the revision of every conflict is 1', async () => {
      const client = clientOf(world, '&throwOnAppendFailure=false');
      const stream = newStream();
      await world.store.append(stream, -1, newEvents(6));
      const result = await client.appendToStream(stream, clientEvent(), { expectedRevision: 0n });
      expect(result).to.deep.include({ success: false, nextExpectedRevision: 1n });
    });

    it('guard: a conflict reports the revision of the stream', async () => {
      const stream = newStream();
      await world.store.append(stream, -1, newEvents(6));
      expect(await world.store.append(stream, 0, newEvents(1))).to.deep.equal({ ok: false, actual: 5 });
    });
  });

  it('B3: an append without an answer never ends in the client; the adapter finds its outcome in the stream', async () => {
    const { server, store } = world;
    const client = clientOf(world);
    await client.appendToStream(newStream(), clientEvent());
    let isOver = false;
    let overdueAtMs = 0;
    // The server rejects appends that arrive after their deadline. On a busy machine, a short deadline passes earlier.
    for (let deadline = 20; server.appendsReceived < 3; deadline *= 4) {
      isOver = false;
      overdueAtMs = performance.now() + 5 * deadline;
      server.loseAnswers(2);
      const ended = rejection(client.appendToStream(newStream(), clientEvent(), { deadline })).then(() => {
        isOver = true;
      });
      await Promise.race([ended, server.until(({ appendsReceived }) => appendsReceived === 3)]);
    }
    const stream = newStream();
    const [event] = newEvents(1);
    expect(await store.append(stream, -1, [event!]), 'found in the stream').to.deep.include(written);
    while (performance.now() < overdueAtMs) await store.head();
    expect(isOver, 'the client, long after its deadline').to.equal(false);
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal([event!.id]);
    expect(server.appendsReceived, 'no repeat was needed').to.equal(4);
  });

  it('B4: the client doesn’t catch a failing checkpoint handler; the adapter uses none', async () => {
    await world.store.append(newStream('foreign'), -1, newEvents(40));
    const thrown = await uncaughtDuring(async (anything) => {
      const filter = { filterOn: STREAM_NAME as typeof STREAM_NAME, prefixes: ['payment-'], checkpointInterval: 1 };
      const checkpointReached = (): Promise<void> => Promise.reject(new Error('a handler that fails'));
      const subscription = clientOf(world).subscribeToAll({ filter: { ...filter, checkpointReached } });
      subscription.on('data', () => undefined);
      await anything;
    });
    expect(thrown.map(String)).to.include('Error: a handler that fails');
    const subscription = new TestSubscription(world.store, { categories: ['foreign'], batchSize: 1 });
    await subscription.until(({ events }) => events.length === 40);
    await subscription.stop();
  });

  describe('B5, B6: subscriptions end and never resume', () => {
    it('defect: a subscription that ends with OK stops silently; a lost connection rejects', async () => {
      const first = clientOf(world).subscribeToAll();
      const silent = collect(first);
      await once(first, 'caughtUp');
      world.server.endSubscriptions('ok');
      expect((await silent).length).to.be.above(0);

      const second = clientOf(world).subscribeToAll();
      const failing = rejection(collect(second));
      await once(second, 'caughtUp');
      world.server.cut();
      expect((await failing).message).to.include('UNAVAILABLE');
    });

    for (const [name, end] of [
      ['with OK', ({ server }: World) => server.endSubscriptions('ok')],
      ['because its consumer is too slow', ({ server }: World) => server.endSubscriptions('tooSlow')],
      ['by a lost connection', ({ server }: World) => server.cut()],
    ] as const) {
      it(`guard: a subscription ended ${name} resumes at its position`, async () => {
        const { store } = world;
        const subscription = new TestSubscription(store);
        await subscription.until(({ caughtUp }) => caughtUp.length === 1);
        const ids: string[] = [];
        for (let n = 1; n <= 3; n++) {
          const events = newEvents(2);
          await store.append(newStream(), -1, events);
          ids.push(...idsOf(events));
          await subscription.untilIds(ids);
          end(world);
          await subscription.until(({ caughtUp }) => caughtUp.length === n + 1);
        }
        await subscription.stop();
        expect(idsOf(subscription.events)).to.deep.equal(ids);
      });
    }
  });

  it('B7: a failed request for the server’s features breaks the client permanently; the adapter sends none', async () => {
    const { server, open } = world;
    const client = clientOf(world);
    server.failServerFeatures(true);
    const first = await rejection(client.appendToStream(newStream(), clientEvent()));
    const store = await open();
    expect(await store.append(newStream(), -1, newEvents(1))).to.deep.include(written);
    server.failServerFeatures(false);
    expect(await rejection(client.appendToStream(newStream(), clientEvent()))).to.equal(first);
    expect(await store.append(newStream(), -1, newEvents(1))).to.deep.include(written);
  });

  it('B9: the client doesn’t recognize a busy server; the adapter’s append waits until the server is ready', async () => {
    const { server, store, reports, written: stored } = world;
    for (const reason of ['Server Is Busy', 'Server Is Not Ready'] as const) {
      server.busy(reason);
      const error = await rejection(clientOf(world).appendToStream(newStream(), clientEvent()));
      expect(error.message).to.include('Could not recognize');
      const event = newEvent();
      const answer = store.append(newStream(), -1, [event]);
      await reports.until(reason);
      server.busy(null);
      expect(await answer).to.deep.include(written);
      expect(stored().filter(({ id }) => id === event.id)).to.have.length(1);
    }
  });

  it('B11: a read from a silent server ends within its time limit, and the next one succeeds', async () => {
    const { server, open } = world;
    const store = await open(QUICK);
    const stream = newStream();
    const events = newEvents(3);
    await appendUntilAnswered(store, stream, -1, events);
    server.silent(true);
    for (const read of [() => collect(store.readStream(stream)), () => store.head()]) {
      const beganAt = performance.now();
      expect((await rejection(read())).name).to.equal('EventStoreUnavailable');
      expect(performance.now() - beganAt).to.be.below(5_000);
    }
    server.silent(false);
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
  });

  it('B12: an append that loses its connection interrupts no subscription', async () => {
    const { server, store, reports } = world;
    const subscription = new TestSubscription(store);
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    const events = newEvents(5);
    for (const event of events) {
      server.loseAnswers();
      await store.append(newStream(), -1, [event]);
    }
    await subscription.untilIds(idsOf(events));
    await subscription.stop();
    expect(idsOf(subscription.events)).to.deep.equal(idsOf(events));
    expect(subscription.caughtUp, 'never interrupted').to.have.length(1);
    expect(new Set(reports.messages)).to.deep.equal(new Set(['no answer within 150 ms']));
  });
});
