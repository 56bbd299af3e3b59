// subscribe: catch-up, live, filters, signals, resuming.
import { expect } from 'chai';
import type { EventStore, Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { collect, idsOf, type LogUnderTest, newEvent, newEvents, newStream, TestSubscription } from './harness.ts';

export const subscribing = (log: () => LogUnderTest, store: () => EventStore): void => {
  /** Appends one event to each of `count` streams in sequence, so that their order in the log is known. */
  const write = async (count: number, category = 'payment', to = store()): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const event = newEvent();
      await to.append(newStream(category), -1, [event]);
      ids.push(event.id);
    }
    return ids;
  };
  const headNow = (): Promise<Position | null> => store().head();

  describe('subscribe', () => {
    it('yields existing events, signals once that it is caught up, then yields new events', async () => {
      const after = await headNow();
      const old = await write(7);
      const subscription = new TestSubscription(store(), { after });
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      expect(idsOf(subscription.events)).to.deep.equal(old);
      expect(subscription.caughtUp).to.deep.equal([await headNow()]);
      const fresh = await write(7);
      await subscription.untilIds(fresh);
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal([...old, ...fresh]);
      expect(subscription.caughtUp).to.have.length(1);
    });

    it('yields the same events as readStream, with all fields', async () => {
      const after = await headNow();
      const stream = newStream();
      const subscription = new TestSubscription(store(), { after });
      await store().append(stream, -1, [newEvent({ data: '{"a":"é👍"}' }), newEvent({ type: 'Other' })]);
      await subscription.until(({ events }) => events.length === 2);
      const again = new TestSubscription(store(), { after });
      await again.until(({ events }) => events.length === 2);
      await Promise.all([subscription.stop(), again.stop()]);
      const recorded = await collect(store().readStream(stream));
      expect(subscription.events).to.deep.equal(recorded);
      expect(again.events).to.deep.equal(recorded);
    });

    it('yields all events to each of two subscriptions', async () => {
      const after = await headNow();
      const subscriptions = [new TestSubscription(store(), { after }), new TestSubscription(store(), { after })];
      const ids = await write(10);
      for (const subscription of subscriptions) {
        await subscription.untilIds(ids);
        await subscription.stop();
        expect(idsOf(subscription.events)).to.deep.equal(ids);
      }
    });

    it('resumes after any position without gap or repetition', async () => {
      const after = await headNow();
      const ids = await write(12);
      const whole = new TestSubscription(store(), { after, batchSize: 1 });
      await whole.untilIds(ids);
      await whole.stop();
      const positions = whole.signals.filter(({ kind }) => kind === 'events').map(({ position }) => position);
      expect(positions).to.deep.equal(whole.events.map(({ position }) => position));
      expect(positions).to.deep.equal([...positions].sort());
      for (const [n, position] of positions.entries()) {
        const resumed = new TestSubscription(store(), { after: position, batchSize: 5 });
        await resumed.until(({ caughtUp }) => caughtUp.length === 1);
        await resumed.stop();
        expect(idsOf(resumed.events), `behind event ${n}`).to.deep.equal(ids.slice(n + 1));
      }
    });

    it('never yields more than batchSize events at once', async () => {
      const after = await headNow();
      const stream = newStream();
      const events = newEvents(23);
      await store().append(stream, -1, events);
      const subscription = new TestSubscription(store(), { after, batchSize: 5 });
      await subscription.untilIds(idsOf(events));
      await subscription.stop();
      const sizes = subscription.signals.flatMap((signal) => (signal.kind === 'events' ? [signal.events.length] : []));
      expect(Math.max(...sizes)).to.be.at.most(5);
      expect(idsOf(subscription.events)).to.deep.equal(idsOf(events));
    });

    it('yields only the requested categories, and none that merely share a prefix', async () => {
      const after = await headNow();
      const wanted: string[] = [];
      for (let n = 0; n < 6; n++) {
        wanted.push(...(await write(1, 'account')), ...(await write(1, 'keyring')));
        await write(1, 'accountant');
        await write(2, 'payment');
      }
      const categories = ['account', 'keyring'];
      const subscription = new TestSubscription(store(), { after, categories, batchSize: 4 });
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      const live = await write(1, 'keyring');
      await write(1, 'accountant');
      wanted.push(...live, ...(await write(1, 'account')));
      await subscription.untilIds(wanted);
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal(wanted);
    });

    it('yields only positions that are safe to resume from, also with a filter', async () => {
      const after = await headNow();
      const wanted: string[] = [];
      for (let n = 0; n < 5; n++) {
        await write(3, 'payment');
        wanted.push(...(await write(1, 'webhookEndpoint')));
      }
      await write(2, 'payment');
      const categories = ['webhookEndpoint'];
      const whole = new TestSubscription(store(), { after, categories, batchSize: 1 });
      await whole.until(({ caughtUp }) => caughtUp.length === 1);
      await whole.stop();
      let given = 0;
      for (const signal of whole.signals) {
        if (signal.kind === 'events') given += signal.events.length;
        const resumed = new TestSubscription(store(), { after: signal.position, categories });
        await resumed.until(({ caughtUp }) => caughtUp.length === 1);
        await resumed.stop();
        expect(idsOf(resumed.events), `behind ${signal.kind} after ${given}`).to.deep.equal(wanted.slice(given));
      }
      expect(given).to.equal(5);
    });

    it('yields checkpoints while a filter matches nothing', async () => {
      const silent = `silent${newStream().slice(8, 14)}`;
      const subscription = new TestSubscription(store(), { after: await headNow(), categories: [silent] });
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      const stream = newStream();
      for (let written = 0; written < 3_000; written += 1_000) {
        await store().append(stream, written - 1, newEvents(1_000));
      }
      await subscription.until(({ checkpoints }) => checkpoints.length > 0);
      const position = subscription.checkpoints.at(-1)!;
      const ids = await write(2, silent);
      await subscription.untilIds(ids);
      await subscription.stop();
      const resumed = new TestSubscription(store(), { after: position, categories: [silent] });
      await resumed.untilIds(ids);
      await resumed.stop();
      expect(idsOf(resumed.events)).to.deep.equal(ids);
      expect(idsOf(subscription.events)).to.deep.equal(ids);
      expect(position > subscription.caughtUp[0]!).to.equal(true);
    });

    it('waits for a slow consumer and drops nothing', async () => {
      const after = await headNow();
      const abort = new AbortController();
      const signals = store()
        .subscribe({ after, categories: null, batchSize: 100, signal: abort.signal })
        [Symbol.asyncIterator]();
      const first = await write(1);
      const seen: RecordedEvent[] = [];
      const pull = async (): Promise<void> => {
        const { value } = await signals.next();
        if (value?.kind === 'events') seen.push(...value.events);
      };
      while (seen.length === 0) await pull();
      const stream = newStream();
      const later = newEvents(6_000);
      for (let n = 0; n < later.length; n += 1_000) await store().append(stream, n - 1, later.slice(n, n + 1_000));
      while (seen.length < 6_001) await pull();
      abort.abort();
      expect(await signals.next()).to.deep.equal({ value: undefined, done: true });
      expect(idsOf(seen)).to.deep.equal([...first, ...idsOf(later)]);
    });

    it('ends without an error when aborted: before, while waiting, between two batches', async () => {
      const after = await headNow();
      await write(3);
      const before = await collect(store().subscribe({ after, categories: null, signal: AbortSignal.abort() }));
      expect(before).to.deep.equal([]);

      const waiting = new TestSubscription(store(), { after });
      await waiting.until(({ caughtUp }) => caughtUp.length === 1);
      await waiting.stop();

      const abort = new AbortController();
      const seen: string[] = [];
      for await (const signal of store().subscribe({ after, categories: null, batchSize: 1, signal: abort.signal })) {
        seen.push(signal.kind);
        abort.abort();
      }
      expect(seen).to.deep.equal(['events']);
    });

    it('can be left by its consumer without affecting the store', async () => {
      const after = await headNow();
      const ids = await write(3);
      const { signal } = new AbortController();
      for await (const _ of store().subscribe({ after, categories: null, batchSize: 1, signal })) break;
      const subscription = new TestSubscription(store(), { after });
      await subscription.untilIds(ids);
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal(ids);
    });

    it('on two instances yields the same log to both while both write', async () => {
      const [one, other] = [await log().connect(), await log().connect()];
      const after = await headNow();
      const subscriptions = [
        new TestSubscription(one, { after }),
        new TestSubscription(other, { after, batchSize: 7 }),
      ];
      const [left, right] = await Promise.all([write(120, 'payment', one), write(120, 'account', other)]);
      for (const subscription of subscriptions) {
        await subscription.until(({ events }) => events.length === 240);
        await subscription.stop();
      }
      const order = idsOf(subscriptions[0]!.events);
      expect(idsOf(subscriptions[1]!.events)).to.deep.equal(order);
      expect(order.filter((id) => left.includes(id))).to.deep.equal(left);
      expect(order.filter((id) => right.includes(id))).to.deep.equal(right);
      expect(subscriptions[0]!.events).to.deep.equal(subscriptions[1]!.events);
    });
  });
};
