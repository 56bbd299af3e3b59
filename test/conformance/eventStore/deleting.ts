// Deliveries whose streams are deleted (application/ports/deliveryRetention.ts, ADR 0008).
import { expect } from 'chai';
import type { DeletesDeliveries, EndedDelivery } from '../../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import type { DeliveryId, StreamName } from '../../../domain/kernel/ids.ts';
import { brief, collect, idsOf, type LogUnderTest, newEvents, newStream, TestSubscription } from './harness.ts';

/** Everything was recorded before it. */
const ALWAYS = '9999-12-31';

export const deleting = (log: () => LogUnderTest, store: () => EventStore & DeletesDeliveries): void => {
  describe('deleting deliveries', () => {
    const idOf = (stream: StreamName) => readStreamName(stream).id as DeliveryId;
    const ended = (stream: StreamName, revision: number): EndedDelivery => ({ id: idOf(stream), revision });
    const deleted = async (...deliveries: readonly EndedDelivery[]): Promise<readonly DeliveryId[]> => {
      const gone = await log().transaction((tx) => store().deleteDeliveries(deliveries, ALWAYS, tx));
      return [...gone];
    };
    /** A stream of deliveries, and something behind it: the newest event of a log may not be deleted. */
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
    /** What one that follows the log gets, from `after` to its end. */
    const followed = async (of: EventStore, options: Partial<Parameters<EventStore['subscribe']>[0]> = {}) => {
      const subscription = new TestSubscription(of, options);
      await subscription.until(({ caughtUp }) => caughtUp.length > 0);
      await subscription.stop();
      return new Set(idsOf(subscription.events));
    };

    it('takes the whole stream and nothing else, for every instance', async () => {
      const [one, other] = [await written(3), await written(2)];
      const second = await log().connect();
      expect(await deleted(ended(one.stream, 2))).to.deep.equal([idOf(one.stream)]);
      for (const instance of [store(), second]) {
        expect(await readBy(instance, one.stream)).to.deep.equal([]);
        expect(await readBy(instance, other.stream)).to.deep.equal(other.ids);
        expect(await readBy(instance, one.payment)).to.deep.equal(one.later);
      }
      // The instance that wrote them may give what it wrote a moment ago from its memory.
      const all = await followed(second);
      expect(one.ids.filter((id) => all.has(id))).to.deep.equal([]);
      expect([...one.later, ...other.ids, ...other.later].filter((id) => !all.has(id))).to.deep.equal([]);
      const deliveries = await followed(second, { categories: ['webhookDelivery'] });
      expect(one.ids.filter((id) => deliveries.has(id))).to.deep.equal([]);
      expect(other.ids.filter((id) => !deliveries.has(id))).to.deep.equal([]);
    });

    it('several at once, and again: what is gone is gone', async () => {
      const [one, other] = [await written(1), await written(2)];
      const both = [ended(one.stream, 0), ended(other.stream, 1)];
      const ids = both.map(({ id }) => id).toSorted();
      expect((await deleted(...both)).toSorted()).to.deep.equal(ids);
      expect((await deleted(...both)).toSorted()).to.deep.equal(ids);
      expect(await deleted()).to.deep.equal([]);
    });

    it('leaves a stream as it is that ends elsewhere', async () => {
      const { stream, ids } = await written(2);
      expect(await deleted(ended(stream, 0))).to.deep.equal([]);
      expect(await deleted(ended(stream, 2))).to.deep.equal([]);
      expect(await readBy(store(), stream)).to.deep.equal(ids);
      const more = newEvents(1);
      expect(brief(await store().append(stream, 1, more))).to.deep.equal({ ok: true, revision: 2 });
      expect(await deleted(ended(stream, 1))).to.deep.equal([]);
      expect(await readBy(store(), stream)).to.deep.equal([...ids, ...idsOf(more)]);
    });

    it('whoever still knows of it finds the stream empty', async () => {
      const { stream } = await written(2);
      await deleted(ended(stream, 1));
      expect(brief(await store().append(stream, 1, newEvents(1)))).to.deep.equal({ ok: false, actual: -1 });
      expect(await readBy(store(), stream)).to.deep.equal([]);
    });

    it('goes either way when somebody appends at the same moment, and never half', async () => {
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

    it('who follows the log goes on past it, and from a position at which an event was deleted', async () => {
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

    it('no position is ever given twice, and the head never goes back', async () => {
      const stream = newStream('webhookDelivery');
      await store().append(stream, -1, newEvents(1));
      const before = await store().head();
      await deleted(ended(stream, 0)); // on Postgres it stays: it is the newest
      const between = await store().head();
      expect((between ?? '') >= (before ?? '')).to.equal(true);
      const next = await store().append(newStream(), -1, newEvents(1));
      expect(next.ok && (next.position ?? '') > (between ?? '')).to.equal(true);
      expect(await deleted(ended(stream, 0))).to.deep.equal([idOf(stream)]);
      expect(await readBy(store(), stream)).to.deep.equal([]);
      const caughtUp = new TestSubscription(store(), { after: between });
      await caughtUp.until(({ signals }) => signals.some(({ kind }) => kind === 'caughtUp'));
      // Deleted or not, whoever follows gets as far as the head says.
      const head = (await store().head()) as string;
      await caughtUp.until(({ signals }) => signals.some(({ position }) => (position ?? '') >= head));
      await caughtUp.stop();
    });
  });
};
