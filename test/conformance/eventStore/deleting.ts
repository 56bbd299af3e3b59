// Deletion of delivery streams (application/ports/deliveryRetention.ts, ADR 0008).
import { expect } from 'chai';
import type { DeletesDeliveries, EndedDelivery } from '../../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import type { DeliveryId, StreamName } from '../../../domain/kernel/ids.ts';
import { brief, collect, idsOf, type LogUnderTest, newEvents, newStream, TestSubscription } from './harness.ts';

/** Later than every recorded event. */
const ALWAYS = '9999-12-31';

export const deleting = (log: () => LogUnderTest, store: () => EventStore & DeletesDeliveries): void => {
  describe('deleting deliveries', () => {
    const idOf = (stream: StreamName) => readStreamName(stream).id as DeliveryId;
    const ended = (stream: StreamName, revision: number): EndedDelivery => ({ id: idOf(stream), revision });
    const deleted = async (...deliveries: readonly EndedDelivery[]): Promise<readonly DeliveryId[]> => {
      const gone = await log().transaction((tx) => store().deleteDeliveries(deliveries, ALWAYS, tx));
      return [...gone];
    };
    /** Writes a delivery’s stream and an event after it, because the newest event of a log may not be deleted. */
    const written = async (count: number) => {
      const stream = newStream('webhookDelivery');
      const events = newEvents(count);
      await store().append(stream, -1, events);
      const payment = newStream();
      const later = newEvents(1);
      await store().append(payment, -1, later);
      return { stream, ids: idsOf(events), payment, later: idsOf(later) };
    };
    const readBy = async (of: EventStore, stream: StreamName) => idsOf(await collect(of.readStream(stream)));
    /** Returns the ids that a subscription gets until it is caught up. */
    const followed = async (of: EventStore, options: Partial<Parameters<EventStore['subscribe']>[0]> = {}) => {
      const subscription = new TestSubscription(of, options);
      await subscription.until(({ caughtUp }) => caughtUp.length > 0);
      await subscription.stop();
      return new Set(idsOf(subscription.events));
    };

    it('removes the whole stream and nothing else, for every instance', async () => {
      const [one, other] = [await written(3), await written(2)];
      const second = await log().connect();
      expect(await deleted(ended(one.stream, 2))).to.deep.equal([idOf(one.stream)]);
      for (const instance of [store(), second]) {
        expect(await readBy(instance, one.stream)).to.deep.equal([]);
        expect(await readBy(instance, other.stream)).to.deep.equal(other.ids);
        expect(await readBy(instance, one.payment)).to.deep.equal(one.later);
      }
      // The instance that wrote the events may still have them in memory, so another one reads.
      const all = await followed(second);
      expect(one.ids.filter((id) => all.has(id))).to.deep.equal([]);
      expect([...one.later, ...other.ids, ...other.later].filter((id) => !all.has(id))).to.deep.equal([]);
      const deliveries = await followed(second, { categories: ['webhookDelivery'] });
      expect(one.ids.filter((id) => deliveries.has(id))).to.deep.equal([]);
      expect(other.ids.filter((id) => !deliveries.has(id))).to.deep.equal([]);
    });

    it('removes several streams at once and is idempotent', async () => {
      const [one, other] = [await written(1), await written(2)];
      const both = [ended(one.stream, 0), ended(other.stream, 1)];
      const ids = both.map(({ id }) => id).toSorted();
      expect((await deleted(...both)).toSorted()).to.deep.equal(ids);
      expect((await deleted(...both)).toSorted()).to.deep.equal(ids);
      expect(await deleted()).to.deep.equal([]);
    });

    it('keeps a stream that ends at another revision', async () => {
      const { stream, ids } = await written(2);
      expect(await deleted(ended(stream, 0))).to.deep.equal([]);
      expect(await deleted(ended(stream, 2))).to.deep.equal([]);
      expect(await readBy(store(), stream)).to.deep.equal(ids);
      const more = newEvents(1);
      expect(brief(await store().append(stream, 1, more))).to.deep.equal({ ok: true, revision: 2 });
      expect(await deleted(ended(stream, 1))).to.deep.equal([]);
      expect(await readBy(store(), stream)).to.deep.equal([...ids, ...idsOf(more)]);
    });

    it('leaves an empty stream for later reads and appends', async () => {
      const { stream } = await written(2);
      await deleted(ended(stream, 1));
      expect(brief(await store().append(stream, 1, newEvents(1)))).to.deep.equal({ ok: false, actual: -1 });
      expect(await readBy(store(), stream)).to.deep.equal([]);
    });

    it('either succeeds or loses to a concurrent append, never halfway', async () => {
      for (let round = 0; round < 10; round++) {
        const { stream, ids } = await written(1);
        const more = newEvents(1);
        const [appended, gone] = await Promise.all([
          store().append(stream, 0, more),
          deleted(ended(stream, 0)),
          store().append(newStream(), -1, newEvents(1)),
        ]);
        expect(appended.ok, `round ${round}`).to.equal(gone.length === 0);
        expect(await readBy(store(), stream)).to.deep.equal(appended.ok ? [...ids, ...idsOf(more)] : []);
      }
    });

    it('doesn’t stop subscriptions, even from the position of a deleted event', async () => {
      const live = new TestSubscription(store());
      const { stream, ids } = await written(2);
      await live.untilIds(ids);
      const recorded = await collect(store().readStream(stream));
      await deleted(ended(stream, 1));
      const { later } = await written(1);
      await live.untilIds(later);
      expect(ids.map((id) => live.events.filter((event) => event.id === id).length)).to.deep.equal([1, 1]);
      await live.stop();
      const second = await log().connect();
      for (const { position } of recorded) {
        const resumed = await followed(second, { after: position });
        expect([ids.filter((id) => resumed.has(id)), later.filter((id) => !resumed.has(id))]).to.deep.equal([[], []]);
      }
    });

    it('never reuses a position or moves the head back', async () => {
      const stream = newStream('webhookDelivery');
      await store().append(stream, -1, newEvents(1));
      const before = await store().head();
      await deleted(ended(stream, 0)); // On Postgres it stays, because it is the newest event.
      const between = await store().head();
      expect((between ?? '') >= (before ?? '')).to.equal(true);
      const next = await store().append(newStream(), -1, newEvents(1));
      expect(next.ok && (next.position ?? '') > (between ?? '')).to.equal(true);
      expect(await deleted(ended(stream, 0))).to.deep.equal([idOf(stream)]);
      expect(await readBy(store(), stream)).to.deep.equal([]);
      const caughtUp = new TestSubscription(store(), { after: between });
      await caughtUp.until(({ signals }) => signals.some(({ kind }) => kind === 'caughtUp'));
      // Subscriptions reach the head whether its event was deleted or not.
      const head = (await store().head()) as string;
      await caughtUp.until(({ signals }) => signals.some(({ position }) => (position ?? '') >= head));
      await caughtUp.stop();
    });
  });
};
