// A log that was never written to.
import { expect } from 'chai';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import {
  collect,
  type EventStoreHarness,
  idsOf,
  type LogUnderTest,
  newEvents,
  newStream,
  TestSubscription,
} from './harness.ts';

export const untouched = (harness: EventStoreHarness): void => {
  describe('an untouched log', () => {
    let log: LogUnderTest;
    let store: EventStore;

    before(async () => {
      log = await harness.createLog();
      store = await log.connect();
    });
    after(async () => {
      await log.dispose();
    });

    it('has no head, is caught up at once, and yields its first event', async () => {
      expect(await store.head()).to.equal(null);
      const subscriptions = [new TestSubscription(store), new TestSubscription(store, { categories: ['account'] })];
      for (const subscription of subscriptions) await subscription.until(({ signals }) => signals.length === 1);
      expect(subscriptions.map(({ signals }) => signals)).to.deep.equal([
        [{ kind: 'caughtUp', position: null }],
        [{ kind: 'caughtUp', position: null }],
      ]);
      const events = newEvents(2);
      const stream = newStream('account');
      await store.append(stream, -1, events);
      for (const subscription of subscriptions) {
        await subscription.untilIds(idsOf(events));
        await subscription.stop();
        expect(idsOf(subscription.events)).to.deep.equal(idsOf(events));
      }
      const [, last] = await collect(store.readStream(stream));
      expect(await store.head()).to.equal(last!.position);
    });

    it('has a store id of its own', async () => {
      const other = await harness.createLog();
      const foreign = await other.connect();
      expect(foreign.storeId).to.not.equal(store.storeId);
      await other.dispose();
    });
  });
};
