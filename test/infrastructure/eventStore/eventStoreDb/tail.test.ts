// The newest events, shared by all followers of a process: one subscription at the server, which never waits for a follower.
import { expect } from 'chai';
import type { Position, RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { Tail } from '../../../../infrastructure/eventStore/eventStoreDb/tail.ts';
import { idsOf, newEvents, newStream, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { startWorld, type World } from './support.ts';

const at = (n: number): Position => String(n).padStart(4, '0') as Position;
const event = (n: number, data = '{}') => ({ position: at(n), data, metadata: '{}' }) as RecordedEvent;
const numbers = (tail: Tail, after: number | null, limit = 10): number[] | null =>
  tail.after(after === null ? null : at(after), limit)?.events.map(({ position }) => Number(position)) ?? null;

describe('the tail of an EventStoreDB log', () => {
  it('returns the events after its start, and how far it has read', () => {
    const tail = new Tail();
    tail.begin(at(5));
    tail.open();
    expect(tail.after(at(5), 10)).to.deep.equal({ events: [], upTo: at(5) });
    tail.push([event(6), event(9)], at(9));
    tail.push([], at(12));
    expect(tail.after(at(5), 10)).to.deep.equal({ events: [event(6), event(9)], upTo: at(12) });
    expect(tail.after(at(5), 1)).to.deep.equal({ events: [event(6)], upTo: at(6) });
    expect(tail.after(at(7), 10)).to.deep.equal({ events: [event(9)], upTo: at(12) });
    expect(tail.after(at(4), 10)).to.equal(null);
    expect(tail.after(null, 10)).to.equal(null);
  });

  it('returns a whole log that was empty at its start', () => {
    const tail = new Tail();
    tail.begin(null);
    tail.open();
    tail.push([event(1)], at(1));
    expect([numbers(tail, null), numbers(tail, 1)]).to.deep.equal([[1], []]);
  });

  it('drops the oldest events above its maximum count and its maximum length', () => {
    const tail = new Tail({ eventsMax: 3, lengthMax: 100 });
    tail.begin(null);
    tail.open();
    for (let n = 1; n <= 5; n++) tail.push([event(n)], at(n));
    expect([numbers(tail, 1), numbers(tail, 2)]).to.deep.equal([null, [3, 4, 5]]);
    tail.push([event(6, 'x'.repeat(94))], at(6));
    expect([numbers(tail, 3), numbers(tail, 4)]).to.deep.equal([null, [5, 6]]);
    tail.push([event(7, 'x'.repeat(200))], at(7));
    expect([numbers(tail, 6), numbers(tail, 7)]).to.deep.equal([null, []]);
  });

  it('returns nothing while its subscription is lost, and the same events after it is reopened', async () => {
    const tail = new Tail();
    tail.begin(null);
    const opened = tail.opened(new AbortController().signal);
    tail.open();
    await opened;
    tail.push([event(1)], at(1));
    const { generation } = tail;
    tail.lost();
    expect([numbers(tail, null), tail.generation > generation]).to.deep.equal([null, true]);
    tail.open();
    expect(numbers(tail, null)).to.deep.equal([1]);
    tail.begin(at(1));
    tail.open();
    expect([numbers(tail, null), numbers(tail, 1)]).to.deep.equal([null, []]);
  });
});

describe('followers of one process on EventStoreDB', () => {
  let world: World;

  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.end());

  const append = async (count: number): Promise<string[]> => {
    const events = newEvents(count);
    await world.store.append(newStream(), -1, events);
    return idsOf(events);
  };

  it('share one subscription and the decoded events, also after they caught up by themselves', async () => {
    const { server, store, open } = world;
    const ids = await append(3);
    const late = await open(); // the tail of this store begins after these events
    const followers = [store, store, late, late, late].map((each) => new TestSubscription(each));
    for (const each of followers) await each.until(({ caughtUp }) => caughtUp.length === 1);
    ids.push(...(await append(2)));
    for (const each of followers) await each.untilIds(ids);
    await server.until(({ subscriptions }) => subscriptions === 2);
    for (const { events } of followers) expect(idsOf(events)).to.deep.equal(ids);
    const [one, other, , third, fourth] = followers.map(({ events }) => events);
    expect(one!.every((event, n) => event === other![n])).to.equal(true);
    expect(third!.map((event, n) => event === fourth![n])).to.deep.equal([false, false, false, true, true]);
    await Promise.all(followers.map((each) => each.stop()));
  });

  it('miss nothing if they pause for longer than the tail holds, and the server ends no subscription', async () => {
    const { store, lost } = world;
    const [before] = [await append(1)];
    const slow = store.subscribe({ after: null, categories: null, signal: new AbortController().signal });
    const follower = slow[Symbol.asyncIterator]();
    while ((await follower.next()).value?.kind !== 'events');
    const quick = new TestSubscription(store);
    const ids = [...before!];
    for (let n = 0; n < 6; n++) ids.push(...(await append(1_000)));
    await quick.untilIds(ids);
    const seen = [...before!];
    while (seen.length < ids.length) {
      const { value } = await follower.next();
      if (value?.kind === 'events') seen.push(...idsOf(value.events));
    }
    expect(seen).to.deep.equal(ids);
    expect(idsOf(quick.events)).to.deep.equal(ids);
    await quick.stop();
    await follower.return?.();
    expect(lost()).to.equal(0);
  });

  it('continue without duplicates when the shared subscription is lost', async () => {
    const { server, store, lost } = world;
    const followers = [store, store].map((each) => new TestSubscription(each));
    const ids: string[] = [];
    for (let round = 1; round <= 3; round++) {
      for (const each of followers) await each.until(({ caughtUp }) => caughtUp.length === round);
      ids.push(...(await append(2)));
      for (const each of followers) await each.untilIds(ids);
      server.endSubscriptions('tooSlow');
    }
    for (const each of followers) await each.until(({ caughtUp }) => caughtUp.length === 4);
    expect(lost()).to.equal(3);
    await Promise.all(followers.map((each) => each.stop()));
    for (const { events } of followers) expect(idsOf(events)).to.deep.equal(ids);
  });
});
