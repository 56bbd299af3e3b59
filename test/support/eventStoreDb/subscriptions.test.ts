// Tests subscriptions of the test server with the published client.
import {
  type AllStreamSubscription,
  END,
  type EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  type Position,
  START,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client';
import { expect } from 'chai';
import { all, event, failureOf, newStream, RealClients, Seen } from './realClient.ts';
import { EventStoreDbServer } from './server.ts';

describe('subscriptions of the EventStoreDB test server', () => {
  let server: EventStoreDbServer;
  let client: EventStoreDBClient;
  const clients = new RealClients();

  beforeEach(async () => {
    server = await EventStoreDbServer.start();
    client = clients.open(server);
  });
  afterEach(async () => {
    await clients.dispose();
    await server.stop();
  });

  const append = async (stream: string, count: number): Promise<string[]> => {
    const events = Array.from({ length: count }, () => event());
    await client.appendToStream(stream, events);
    return events.map(({ id }) => id);
  };

  /** Returns the ids of the events up to `last`, with `caughtUp` among them, and unsubscribes. */
  const follow = async (subscription: AllStreamSubscription | StreamSubscription, last: string): Promise<string[]> => {
    const seen: string[] = [];
    subscription.on('caughtUp', () => seen.push('caughtUp'));
    for await (const { event: recorded } of subscription) {
      seen.push(recorded!.id);
      if (recorded!.id === last) break;
    }
    await subscription.unsubscribe();
    return seen;
  };

  it('return a stream from its start, report caughtUp, then return new events', async () => {
    const stream = newStream();
    const old = await append(stream, 3);
    await append(newStream(), 1);
    const subscription = client.subscribeToStream(stream);
    const seen = new Seen(subscription);
    await seen.until('caughtUp');
    const [fresh] = await append(stream, 1);
    await seen.until(fresh!);
    expect(seen.signals).to.deep.equal(['confirmation', ...old, 'caughtUp', fresh]);
    await subscription.unsubscribe();
  });

  it('start after a revision, not at it', async () => {
    const stream = newStream();
    const ids = await append(stream, 4);
    expect((await follow(client.subscribeToStream(stream, { fromRevision: 1n }), ids[3]!)).slice(0, 2)).to.deep.equal(
      ids.slice(2),
    );
  });

  it('don’t report caughtUp for a missing stream, but do at its end', async () => {
    const stream = newStream();
    const fromStart = new Seen(client.subscribeToStream(stream, { fromRevision: START }));
    const fromEnd = new Seen(client.subscribeToStream(stream, { fromRevision: END }));
    await Promise.all([fromStart.until('confirmation'), fromEnd.until('caughtUp')]);
    const [id] = await append(stream, 1);
    await Promise.all([fromStart.until(id!), fromEnd.until(id!)]);
    expect(fromStart.signals).to.deep.equal(['confirmation', id]);
    expect(fromEnd.signals).to.deep.equal(['confirmation', 'caughtUp', id]);
  });

  it('return $all with the system events, after a position', async () => {
    const ids = await append(newStream(), 3);
    const whole = await all(client.readAll());
    const everything = client.subscribeToAll();
    expect((await follow(everything, ids[2]!)).filter((id) => id !== 'caughtUp')).to.deep.equal(
      whole.map((resolved) => resolved.event!.id),
    );
    const position = whole.at(-2)!.event!.position!;
    expect((await follow(client.subscribeToAll({ fromPosition: position }), ids[2]!))[0]).to.equal(ids[2]);
    const half = { commit: position.commit, prepare: 0n };
    expect(
      (await follow(client.subscribeToAll({ fromPosition: half }), ids[2]!)).slice(0, 2),
      'prepare 0 lies before the event',
    ).to.deep.equal(ids.slice(1));
    const odd = { commit: position.commit + 1n, prepare: 0n };
    const { type, code } = await failureOf(all(client.subscribeToAll({ fromPosition: odd })));
    expect({ type, code }).to.deep.equal({ type: 'unknown', code: 2 });
  });

  it('return new events of $all, including system events', async () => {
    const subscription = client.subscribeToAll({ fromPosition: END });
    const seen = new Seen(subscription);
    await seen.until('caughtUp');
    server.writeSystemEvents(2);
    const [id] = await append(newStream(), 1);
    await seen.until(id!);
    expect(seen.types).to.deep.equal(['$statsCollected', '$statsCollected', 'SomethingHappened']);
    await subscription.unsubscribe();
  });

  for (const [name, filter] of [
    ['stream-name prefixes', streamNameFilter({ prefixes: ['payment-', 'refund-'] })],
    ['a regex of stream names', streamNameFilter({ regex: '^(payment|refund)-' })],
  ] as const) {
    it(`can be filtered by ${name}`, async () => {
      const first = await append(newStream('payment'), 2);
      await append(newStream('paymentLink'), 2);
      const last = await append(newStream('refund'), 1);
      const seen = await follow(client.subscribeToAll({ filter }), last[0]!);
      expect(seen.filter((id) => id !== 'caughtUp')).to.deep.equal([...first, ...last]);
    });
  }

  for (const [name, filter] of [
    ['event type prefix', eventTypeFilter({ prefixes: ['Something'] })],
    ['the exclusion of system events', excludeSystemEvents()],
  ] as const) {
    it(`can be filtered by ${name}`, async () => {
      const ids = await append(newStream(), 3);
      const seen = await follow(client.subscribeToAll({ filter }), ids[2]!);
      expect(seen.filter((id) => id !== 'caughtUp')).to.deep.equal(ids);
    });
  }

  it('report {0,0} and a checkpoint every 32 scanned records, each safe to resume from', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      await append(newStream('refund'), 29);
      ids.push(...(await append(newStream('payment'), 3)));
    }
    const given: { position: Position; seen: number }[] = [];
    let seen: Seen | null = null;
    const filter = streamNameFilter({
      prefixes: ['payment-'],
      checkpointInterval: 1,
      checkpointReached: (_subscription, position) => {
        given.push({ position, seen: seen?.ids.length ?? 0 });
      },
    });
    const subscription = client.subscribeToAll({ filter });
    seen = new Seen(subscription);
    await seen.until('caughtUp');
    await subscription.unsubscribe();
    expect(seen.ids).to.deep.equal(ids);
    expect(given[0]).to.deep.equal({ position: { commit: 0n, prepare: 0n }, seen: 0 });
    expect(given).to.have.length(1 + Math.floor((await all(client.readAll())).length / 32));
    for (const { position, seen: count } of given.slice(1)) {
      const plain = streamNameFilter({ prefixes: ['payment-'] });
      const resumed = await follow(client.subscribeToAll({ fromPosition: position, filter: plain }), ids.at(-1)!);
      const rest = resumed.filter((id) => id !== 'caughtUp');
      expect(ids.slice(-rest.length), 'no gap').to.deep.equal(rest);
      expect(rest.length).to.be.within(ids.length - count, ids.length - count + 3);
    }
  });

  it('report checkpoints by the search window, also for live events', async () => {
    const positions: Position[] = [];
    let wake = (): void => undefined;
    const filter = streamNameFilter({
      prefixes: ['nothing-'],
      maxSearchWindow: 4,
      checkpointInterval: 2,
      checkpointReached: (_subscription, position) => {
        positions.push(position);
        wake();
      },
    });
    const subscription = client.subscribeToAll({ fromPosition: END, filter });
    await new Seen(subscription).until('caughtUp');
    const third = new Promise<void>((resolve) => {
      wake = () => positions.length === 3 && resolve();
    });
    server.writeSystemEvents(26);
    await third;
    const live = (await all(client.readAll())).slice(-26).map((resolved) => resolved.event!.position!.commit);
    expect(positions).to.deep.equal([5, 13, 21].map((n) => ({ commit: live[n], prepare: 0n })));
    await subscription.unsubscribe();
  });

  it('end for a live consumer that stands still, but not for one that catches up', async () => {
    const stream = newStream();
    const subscription = client.subscribeToStream(stream, {}, { highWaterMark: 2 });
    const failed = failureOf(new Promise((_, reject) => subscription.once('error', reject)));
    const seen = new Seen(subscription);
    const [first] = await append(stream, 1);
    await seen.until(first!);
    subscription.pause();
    for (let n = 0; server.subscriptions > 0; n++) {
      expect(n, 'appends of 1,000 events').to.be.below(20);
      await append(stream, 1_000);
    }
    subscription.resume();
    expect((await failed).type).to.equal('timeout');
    const behind = client.subscribeToStream(stream, {}, { highWaterMark: 2 });
    let taken = 0;
    for await (const _ of behind)
      if (++taken === 500) await append(stream, 1_000);
      else if (taken === 2_000) break;
    await behind.unsubscribe();
  });

  it('wait for a live consumer that stands still, from version 24 on', async () => {
    server.pretendToBe('24.6.0');
    const stream = newStream();
    await append(stream, 1);
    const subscription = client.subscribeToStream(stream, {}, { highWaterMark: 2 });
    const seen = new Seen(subscription);
    await seen.until('caughtUp');
    subscription.pause();
    let last = '';
    for (let n = 0; n < 3; n++) last = (await append(stream, 1_000)).at(-1)!;
    expect(server.subscriptions).to.equal(1);
    subscription.resume();
    await seen.until(last);
    await subscription.unsubscribe();
  });

  it('wait for a slow consumer and keep the order', async () => {
    const stream = newStream();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(...(await append(stream, 1_000)));
    const subscription = client.subscribeToStream(stream, {}, { highWaterMark: 2 });
    const seen: string[] = [];
    for await (const { event: recorded } of subscription) {
      if (seen.length === 10) await client.appendToStream(newStream(), event());
      seen.push(recorded!.id);
      if (seen.length === ids.length) break;
    }
    expect(seen).to.deep.equal(ids);
    await subscription.unsubscribe();
    await server.until(({ subscriptions }) => subscriptions === 0);
  });
});
