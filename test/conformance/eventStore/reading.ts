// readStream, head, onHead, storeId, close.
import { expect } from 'chai';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import {
  collect,
  failureOf,
  idsOf,
  type LogUnderTest,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from './harness.ts';

/** Enough for five pages. */
const HISTORY_EVENTS = 2_500;

export const reading = (log: () => LogUnderTest, store: () => EventStore): void => {
  describe('readStream', () => {
    it('of an unknown stream yields nothing', async () => {
      expect(await collect(store().readStream(newStream()))).to.deep.equal([]);
    });

    it('yields the events from a revision on, in order', async () => {
      const stream = newStream();
      const events = newEvents(5);
      await store().append(stream, -1, events.slice(0, 2));
      await store().append(newStream(), -1, newEvents(3));
      await store().append(stream, 1, events.slice(2));
      for (const from of [0, 1, 4, 5, 6]) {
        const recorded = await collect(store().readStream(stream, { from }));
        expect(idsOf(recorded), `from ${from}`).to.deep.equal(idsOf(events.slice(from)));
        expect(recorded.map(({ revision }) => revision)).to.deep.equal([0, 1, 2, 3, 4].slice(from));
      }
    });

    it('distinguishes streams whose names share a prefix or differ in case', async () => {
      const stream = newStream();
      const longer = `${stream}0` as typeof stream;
      const upper = stream.replace('payment', 'Payment') as typeof stream;
      for (const name of [stream, longer, upper])
        await store().append(name, -1, [newEvent({ data: `{"n":"${name}"}` })]);
      for (const name of [stream, longer, upper]) {
        const data = (await collect(store().readStream(name))).map((event) => event.data);
        expect(data).to.deep.equal([`{"n":"${name}"}`]);
      }
    });

    it(`yields a history of ${HISTORY_EVENTS} events completely, from the middle, or until the reader stops`, async () => {
      const stream = newStream();
      for (let written = 0; written < HISTORY_EVENTS; written += 500) {
        await store().append(stream, written - 1, newEvents(500));
      }
      let next = 0;
      for await (const event of store().readStream(stream)) {
        if (event.revision !== next) expect.fail(`revision ${event.revision} instead of ${next}`);
        next += 1;
      }
      expect(next).to.equal(HISTORY_EVENTS);
      const rest = await collect(store().readStream(stream, { from: HISTORY_EVENTS - 3 }));
      expect(rest.map(({ revision }) => revision)).to.deep.equal([2_497, 2_498, 2_499]);
      for await (const event of store().readStream(stream)) if (event.revision === 9) break;
      expect(await collect(store().readStream(newStream())), 'the store goes on working').to.deep.equal([]);
    });
  });

  describe('head', () => {
    it('is the position of the newest event', async () => {
      const fresh = await log().connect();
      const before = await fresh.head();
      const stream = newStream();
      await fresh.append(stream, -1, newEvents(3));
      const recorded = await collect(fresh.readStream(stream));
      expect(await fresh.head()).to.equal(recorded[2]!.position);
      expect(before !== null && before < recorded[0]!.position).to.equal(true);
    });

    it('is reported to listeners for appends of any instance, in ascending order, until they unsubscribe', async () => {
      const [one, other] = [await log().connect(), await log().connect()];
      const heads: Position[] = [];
      let told: () => void = () => undefined;
      const undo = one.onHead((head) => {
        heads.push(head);
        told();
      });
      const hears = async (head: Position | null): Promise<void> => {
        while (head !== null && !heads.some((known) => known >= head)) {
          await new Promise<void>((resolve) => {
            told = resolve;
          });
        }
      };
      await one.append(newStream(), -1, newEvents(2));
      await hears(await one.head());
      await other.append(newStream(), -1, newEvents(2));
      await hears(await other.head());
      expect(heads.at(-1)).to.equal(await other.head());
      expect(heads).to.deep.equal([...new Set(heads)].sort());
      const known = heads.length;
      undo();
      undo();
      await one.append(newStream(), -1, newEvents(2));
      const subscription = new TestSubscription(one);
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      await subscription.stop();
      expect(heads).to.have.length(known);
    });

    it('is reported to a listener even if another one throws', async () => {
      const one = await log().connect();
      one.onHead(() => {
        throw new Error('a listener that fails');
      });
      const told = new Promise<Position>((resolve) => one.onHead(resolve));
      await one.append(newStream(), -1, newEvents(1));
      expect(await told).to.be.a('string');
    });
  });

  describe('storeId', () => {
    it('is the same for all instances on a log', async () => {
      const [one, other] = [await log().connect(), await log().connect()];
      expect(one.storeId).to.be.a('string').with.length.above(8);
      expect(other.storeId).to.equal(one.storeId);
    });
  });

  describe('close', () => {
    it('finishes appends in progress, ends subscriptions, and rejects all later calls', async () => {
      const closing = await log().connect();
      const subscription = new TestSubscription(closing);
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      const jobs = Array.from({ length: 20 }, () => ({ stream: newStream(), event: newEvent() }));
      const answers = jobs.map(({ stream, event }) => closing.append(stream, -1, [event]));
      await closing.close();
      expect((await Promise.all(answers)).map(({ ok }) => ok)).to.deep.equal(jobs.map(() => true));
      await subscription.ended;
      const stored = await Promise.all(jobs.map(({ stream }) => collect(store().readStream(stream))));
      expect(stored.map(idsOf)).to.deep.equal(jobs.map(({ event }) => [event.id]));

      const { signal } = new AbortController();
      const calls: (() => Promise<unknown>)[] = [
        () => closing.append(newStream(), -1, [newEvent()]),
        () => collect(closing.readStream(newStream())),
        () => collect(closing.subscribe({ after: null, categories: null, signal })),
        () => closing.head(),
        async () => closing.onHead(() => undefined),
      ];
      for (const call of calls) expect(await failureOf(call)).to.equal('EventStoreUnavailable');
    });

    it('is idempotent, also when called concurrently', async () => {
      const closing = await log().connect();
      await Promise.all([closing.close(), closing.close()]);
      await closing.close();
      expect(await failureOf(() => closing.head())).to.equal('EventStoreUnavailable');
    });
  });
};
