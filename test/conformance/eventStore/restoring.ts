// A log is restored to an older state under running instances. They drop cached events that were lost, and subscriptions that would skip
// new events end.
import { expect } from 'chai';
import type { EventStore, NewEvent, Position } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import {
  appendUntilAnswered,
  brief,
  collect,
  type EventStoreHarness,
  failureOf,
  idsOf,
  type LogUnderTest,
  newEvent,
  newStream,
  TestSubscription,
} from './harness.ts';

const KEPT = 3;
const LOST = 3;

export const restoring = (harness: EventStoreHarness): void => {
  describe('a log restored to an older state', () => {
    let log: LogUnderTest;
    let store: EventStore;
    /** One stream, so that its revisions count the events. */
    let stream: StreamName;
    let positions: Position[];
    let ids: string[];

    beforeEach(async () => {
      log = await harness.createLog();
      store = await log.connect();
      stream = newStream();
      positions = [];
      ids = await write(store, 0, KEPT + LOST);
    });
    afterEach(async () => {
      await log.dispose();
    });

    /** Appends events one by one from a revision on. All have the same text, so new events get exactly the positions of lost ones. */
    const write = async (to: EventStore, from: number, count: number): Promise<string[]> => {
      const written: string[] = [];
      for (let revision = from; revision < from + count; revision++) {
        const event = newEvent();
        const result = await appendUntilAnswered(to, stream, revision - 1, [event]);
        expect(brief(result)).to.deep.equal({ ok: true, revision });
        if (result.ok && result.position !== null) positions[revision] = result.position;
        written.push(event.id);
      }
      return written;
    };
    const restore = () => log.restore(positions[KEPT - 1] as Position);
    const newest = () => positions.at(-1) as Position;
    const subscriptionEnd = (subscription: TestSubscription) => failureOf(() => subscription.ended);

    it('yields the stored events, not cached ones', async () => {
      await restore();
      const fresh = await write(await log.connect(), KEPT, LOST);
      for (const after of [null, positions[KEPT - 1] as Position]) {
        const subscription = new TestSubscription(store, { after });
        await subscription.until(({ caughtUp }) => caughtUp.length === 1);
        await subscription.stop();
        expect(idsOf(subscription.events)).to.deep.equal([...(after === null ? ids.slice(0, KEPT) : []), ...fresh]);
      }
      expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal([...ids.slice(0, KEPT), ...fresh]);
    });

    it('yields events appended by the same instance afterwards, and no lost ones', async () => {
      const subscription = new TestSubscription(store, { after: positions[KEPT - 1] as Position });
      await subscription.untilIds(ids);
      await subscription.stop();
      await restore();
      const fresh = await write(store, KEPT, LOST + 2);
      const again = new TestSubscription(store, { after: positions[KEPT - 1] as Position });
      await again.untilIds(fresh);
      await again.stop();
      expect(idsOf(again.events)).to.deep.equal(fresh);
    });

    for (const regrown of [0, LOST, LOST + 4])
      it(`ends a subscription that was past its head, with ${regrown} new events`, async () => {
        const subscription = new TestSubscription(store);
        await subscription.untilIds(ids);
        await restore();
        await write(await log.connect(), KEPT, regrown);
        expect(await subscriptionEnd(subscription)).to.equal('UnknownPosition');
        expect(idsOf(subscription.events)).to.deep.equal(ids);
      });

    it('ends such a subscription if its own instance writes the new events', async () => {
      const subscription = new TestSubscription(store);
      await subscription.untilIds(ids);
      await restore();
      await write(store, KEPT, LOST + 4);
      expect(await subscriptionEnd(subscription)).to.equal('UnknownPosition');
      expect(idsOf(subscription.events)).to.deep.equal(ids);
    });

    it('rejects subscriptions after a position past its head, on old and new instances', async () => {
      await restore();
      for (const each of [store, await log.connect()]) {
        const subscription = new TestSubscription(each, { after: newest() });
        expect(await subscriptionEnd(subscription)).to.equal('UnknownPosition');
        expect(subscription.signals).to.deep.equal([]);
      }
    });

    it('doesn’t end a subscription that has seen no lost event', async () => {
      const other = newStream('account');
      const head = await log.connect();
      await restore();
      const subscription = new TestSubscription(store, { after: positions[KEPT - 1] as Position });
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      await log.restore(positions[KEPT - 1] as Position);
      const event = newEvent();
      await appendUntilAnswered(head, other, -1, [event]);
      await subscription.untilIds([event.id]);
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal([event.id]);
    });

    it('returns the older head and notifies listeners each time, before the first append', async () => {
      const heads: (Position | null)[] = [];
      const undo = store.onRestored((head) => heads.push(head));
      for (let twice = 0; twice < 2; twice++) {
        await restore();
        expect(await store.head()).to.equal(positions[KEPT - 1]);
        await write(store, KEPT, LOST);
        expect(heads, 'told before the first append was written').to.deep.equal(
          Array.from({ length: twice + 1 }, () => positions[KEPT - 1]),
        );
      }
      undo();
      await restore();
      await write(store, KEPT, 1);
      expect(heads).to.have.length(2);
    });

    it('is not mistaken for a log whose connections were merely cut', async () => {
      const told: unknown[] = [];
      store.onRestored((head) => told.push(head));
      const subscription = new TestSubscription(store);
      for (let cut = 0; cut < 3; cut++) {
        await log.cutConnections();
        const more = await write(cut === 1 ? await log.connect() : store, KEPT + LOST + cut, 1);
        ids.push(...more);
        await subscription.untilIds(more);
      }
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal(ids);
      expect(told).to.deep.equal([]);
    });

    it('rejects an append that expects lost events', async () => {
      await restore();
      const late: NewEvent[] = [newEvent()];
      const result = await appendUntilAnswered(store, stream, KEPT + LOST - 1, late);
      expect(brief(result)).to.deep.equal({ ok: false, actual: KEPT - 1 });
      expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(ids.slice(0, KEPT));
    });

    it('returns the event id at a position: of kept, lost and new events', async () => {
      const [kept, lost] = [positions[0] as Position, newest()];
      expect(await store.eventIdAt(kept)).to.equal(ids[0]);
      expect(await store.eventIdAt(lost)).to.equal(ids.at(-1));
      await restore();
      expect(await store.eventIdAt(kept)).to.equal(ids[0]);
      expect(await store.eventIdAt(lost)).to.equal(null);
      const fresh = await write(await log.connect(), KEPT, LOST);
      expect(newest(), 'where the lost one stood').to.equal(lost);
      expect(await store.eventIdAt(lost)).to.equal(fresh.at(-1));
    });
  });
};
