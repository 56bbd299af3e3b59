import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { positionOf } from '../../../../infrastructure/eventStore/postgres/reader.ts';
import { RecentEvents } from '../../../../infrastructure/eventStore/postgres/recentEvents.ts';
import { newEvent, newStream } from '../../../conformance/eventStore/harness.ts';

const recorded = (place: number, data = '{}', ageMs = 0): RecordedEvent => ({
  ...newEvent({ data, metadata: '{}' }),
  stream: newStream(),
  revision: 0,
  position: positionOf(place),
  recordedAt: new Date(Date.now() - ageMs).toISOString(),
});
const run = (first: number, count: number, data?: string): RecordedEvent[] =>
  Array.from({ length: count }, (_, n) => recorded(first + n, data));

/** Recent events with a follower that has taken nothing. */
const followed = (bounds?: ConstructorParameters<typeof RecentEvents>[0]): RecentEvents => {
  const tail = new RecentEvents(bounds);
  tail.keepFor({ at: 0 });
  return tail;
};

describe('recent events', () => {
  it('returns the same objects that were added, after any position', () => {
    const tail = followed();
    const events = run(1, 5);
    tail.add(1, events.slice(0, 2));
    tail.add(3, events.slice(2));
    for (let place = 0; place < 5; place++) {
      const given = tail.after(place, 2)!;
      expect(given.map((event) => events.indexOf(event))).to.deep.equal([place, place + 1].filter((n) => n < 5));
    }
  });

  it('returns nothing older than an hour, because it may have been deleted meanwhile', () => {
    const tail = followed();
    const [old, young] = [recorded(1, '{}', 3_700_000), recorded(2, '{}', 3_500_000)];
    tail.add(1, [old, young]);
    expect([tail.after(0, 9), tail.after(1, 9)]).to.deep.equal([null, [young]]);
  });

  it('returns null after its end and before its start', () => {
    const tail = followed();
    expect(tail.after(0, 1)).to.equal(null);
    tail.add(4, run(4, 3));
    expect([2, 3, 5, 6, 7].map((place) => tail.after(place, 9)?.length ?? null)).to.deep.equal([
      null,
      3,
      1,
      null,
      null,
    ]);
  });

  it('forgets the events before a gap, which another process wrote', () => {
    const tail = followed();
    tail.add(1, run(1, 3));
    const later = run(6, 2);
    tail.add(6, later);
    expect([0, 1, 2, 3, 4].map((place) => tail.after(place, 9))).to.deep.equal([null, null, null, null, null]);
    expect(tail.after(5, 9)).to.deep.equal(later);
  });

  it('ignores duplicate events and empty pages', () => {
    const tail = followed();
    const events = run(1, 3);
    tail.add(1, events);
    tail.add(1, run(1, 3));
    tail.add(9, []);
    expect(tail.after(0, 9)!.every((event, n) => event === events[n])).to.equal(true);
  });

  it('drops the events that all followers have taken', () => {
    const tail = new RecentEvents();
    const [fast, slow] = [{ at: 0 }, { at: 0 }];
    tail.keepFor(fast);
    const release = tail.keepFor(slow);
    const oldest = (last: number): number => {
      for (let place = 0; place < last; place++) if (tail.after(place, 1) !== null) return place + 1;
      return last + 1;
    };
    const seen: number[] = [];
    const add = (place: number): void => {
      tail.add(place, run(place, 2));
      seen.push(oldest(place + 1));
    };
    add(1);
    fast.at = 2;
    add(3);
    slow.at = 1;
    add(5);
    release();
    add(7);
    fast.at = 8;
    add(9);
    expect(seen).to.deep.equal([1, 1, 2, 3, 9]);
  });

  it('keeps nothing without a follower, and knows its place', () => {
    const tail = new RecentEvents();
    tail.add(1, run(1, 3));
    expect([tail.last, tail.after(0, 1), tail.after(2, 1)]).to.deep.equal([3, null, null]);
  });

  it('keeps nothing for a follower that is too far behind, until it has come near', () => {
    const tail = new RecentEvents({ eventsMax: 4, lengthMax: 1_000 });
    const late = { at: 3 };
    tail.keepFor(late);
    tail.add(8, [recorded(8)]);
    expect(tail.after(7, 1)).to.equal(null);
    late.at = 5;
    tail.add(9, [recorded(9)]);
    expect(tail.after(8, 1)).to.have.length(1);
  });

  it('keeps the newest events within its maximum count and length', () => {
    const few = new RecentEvents({ eventsMax: 4, lengthMax: 1_000 });
    const follower = { at: 0 };
    few.keepFor(follower);
    for (let place = 1; place <= 100; place += 3) {
      few.add(place, run(place, 3));
      follower.at = place + 1;
    }
    expect([97, 98, 99, 101].map((place) => few.after(place, 9)?.length ?? null)).to.deep.equal([null, 4, 3, 1]);
    few.add(103, run(103, 2));
    expect([99, 100, 101].map((place) => few.after(place, 9)?.length ?? null)).to.deep.equal([null, null, 3]);
    const short = followed({ eventsMax: 100, lengthMax: 100 });
    const [small, large] = ['{}', `{"a":"${'x'.repeat(60)}"}`];
    short.add(1, [recorded(1, small), recorded(2, large), recorded(3, small), recorded(4, small)]);
    expect(short.after(0, 9)).to.have.length(4);
    short.add(5, [recorded(5, large)]);
    expect([0, 1, 2].map((place) => short.after(place, 9)?.length ?? null)).to.deep.equal([null, null, 3]);
    short.add(6, [recorded(6, `{"a":"${'x'.repeat(200)}"}`)]);
    expect(short.after(5, 9)).to.equal(null);
  });
});
