// "Read your writes" and lag, from the heads and moves that a process is notified of.
import { expect } from 'chai';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { positionOf as at } from '../../../infrastructure/eventStore/postgres/reader.ts';
import type { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';

const LONG_MS = 60_000;

describe('progress of consumers', () => {
  let now: number;
  let progress: LogProgress;
  /** Moves both consumers. */
  const moved = (position: Position) => progress.moved(['a', 'b'], position);
  beforeEach(() => {
    now = 1_000;
    progress = new LogProgress(() => now, ['a', 'b']);
  });

  it('is complete for an empty log, before any move', async () => {
    expect(await progress.caughtUp(LONG_MS)).to.equal(true);
    expect([progress.head, progress.position, progress.stuckMs()]).to.deep.equal([null, null, 0]);
  });

  it('waits for the head known at the call, not for later ones', async () => {
    progress.sawHead(at(2));
    const waiting = progress.caughtUp(LONG_MS);
    progress.sawHead(at(9));
    moved(at(1));
    const outcome = await Promise.race([waiting, Promise.resolve('still waiting')]);
    expect(outcome).to.equal('still waiting');
    moved(at(2));
    expect(await waiting).to.equal(true);
  });

  it('is enough if it is beyond the head, and at once if it was before the call', async () => {
    progress.sawHead(at(2));
    const waiting = progress.caughtUp(LONG_MS);
    moved(at(3));
    expect(await waiting).to.equal(true);
    expect(await progress.caughtUp(LONG_MS)).to.equal(true);
  });

  it('returns false at the timeout, only to the caller that waited that long', async () => {
    progress.sawHead(at(2));
    const patient = progress.caughtUp(LONG_MS);
    expect(await progress.caughtUp(1)).to.equal(false);
    moved(at(2));
    expect(await patient).to.equal(true);
  });

  it('never goes backwards', () => {
    for (const place of [5, 4, 5]) progress.sawHead(at(place));
    for (const place of [3, 2, 3]) moved(at(place));
    expect([progress.head, progress.position]).to.deep.equal([at(5), at(3)]);
  });

  it('keeps the newest head if an older one arrives late', async () => {
    for (const place of [5, 4]) progress.sawHead(at(place));
    moved(at(4));
    expect([progress.head, progress.behind()]).to.deep.equal([at(5), ['a', 'b']]);
    expect(await progress.caughtUp(1)).to.equal(false);
  });

  it('calls a listener once per move, until it is removed', () => {
    const heard: (Position | null)[] = [];
    const undo = progress.onMove(() => heard.push(progress.position));
    for (const place of [1, 1, 2, 1]) moved(at(place));
    undo();
    moved(at(3));
    expect(heard).to.deep.equal([at(1), at(2)]);
  });

  it('of another version fails reads at once until this version is back, and does not count as stuck', async () => {
    progress = new LogProgress(
      () => now,
      ['a', 'b'],
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    );
    progress.sawHead(at(3));
    moved(at(3));
    expect(await progress.caughtUp(LONG_MS)).to.equal(true);
    for (const version of [1, 3]) {
      progress.heard([{ name: 'a', version }], at(5));
      progress.sawHead(at(4));
      expect(await progress.caughtUp(LONG_MS, ['a'])).to.equal(false);
      expect(progress.isOtherVersion('a')).to.equal(true);
      now += 10_000;
      expect([progress.standingStill(5_000), progress.behind()]).to.deep.equal([['b'], ['b']]);
      progress.heard(
        [
          { name: 'a', version: 2 },
          { name: 'b', version: 1 },
        ],
        at(4),
      );
      expect(await progress.caughtUp(LONG_MS, ['a'])).to.equal(true);
      expect(progress.standingStill(0)).to.deep.equal([]);
      progress = new LogProgress(() => now, ['a', 'b'], new Map([['a', 2]]));
      progress.sawHead(at(3));
      moved(at(3));
    }
  });

  it('of an idle consumer counts only for tables that this process can read', async () => {
    progress = new LogProgress(() => now, ['a', 'b'], new Map([['a', 2]]));
    progress.sawHead(at(5));
    const idle = (version: number) => progress.heard([{ name: 'a', version, isIdle: true }], at(5));
    progress.heard([{ name: 'a', version: 2 }], at(1));
    idle(1);
    expect([progress.isOtherVersion('a'), progress.behind()]).to.deep.equal([false, ['a', 'b']]);
    idle(2);
    expect(progress.behind()).to.deep.equal(['b']);
    progress.heard([{ name: 'a', version: 1 }], at(5)); // a copy of another version was swapped in
    idle(2); // the former leader does not know that yet
    progress.moved(['b'], at(5), ['a']);
    expect([progress.isOtherVersion('a'), progress.behind()]).to.deep.equal([true, []]);
    expect(await progress.caughtUp(LONG_MS, ['a'])).to.equal(false);
  });

  it('calls the listener of one consumer when it applied something, also in a partition, until removed', () => {
    const told: string[] = [];
    const undo = progress.onMove(() => told.push('a'), 'a');
    progress.onMove(() => told.push('any'));
    progress.moved(['b'], at(1), ['a']);
    expect(told.splice(0)).to.deep.equal(['any']);
    progress.heard([{ name: 'a', version: 1 }], at(2));
    progress.moved(['a#0/2', 'b'], at(3));
    expect(told.splice(0)).to.deep.equal(['a', 'any', 'a', 'any']);
    undo();
    progress.moved(['a'], at(5));
    expect(told).to.deep.equal(['any']);
  });

  it('of a partitioned consumer is that of its slowest partition, also when their number changes', async () => {
    progress = new LogProgress(() => now, ['a']);
    const heard: (Position | null)[] = [];
    progress.onMove(() => heard.push(progress.position));
    progress.sawHead(at(5));
    progress.moved(['a'], at(1));
    progress.moved(['a#0/2'], at(5));
    now += 10;
    expect([progress.position, progress.stuckMs()]).to.deep.equal([at(1), 10]);
    const waiting = progress.caughtUp(LONG_MS);
    progress.moved(['a#1/2'], at(3));
    progress.moved(['a#2/4'], at(5)); // partitioned again: half of the slower one
    expect(progress.position).to.equal(at(3));
    progress.moved(['a#1/2'], at(2)); // arrives late
    progress.moved(['a#3/4', 'b#0/2'], at(5));
    expect(await waiting).to.equal(true);
    progress.moved(['a'], at(6)); // no longer partitioned
    // Reported for each partition, because reads may wait for one.
    expect(heard).to.deep.equal([1, 1, 3, 3, 5, 6].map(at));
  });

  it('of a partitioned consumer is enough for an account if its partition has caught up', async () => {
    progress = new LogProgress(() => now, ['a']);
    progress.sawHead(at(5));
    const [first, last] = [`0${'0'.repeat(25)}`, `7${'z'.repeat(25)}`] as AccountId[];
    const waiting = [first, last, undefined].map((account) =>
      progress.caughtUp(account === last ? LONG_MS : 1, ['a'], account),
    );
    progress.moved(['a#1/2'], at(5));
    expect(await Promise.all(waiting)).to.deep.equal([false, true, false]);
    expect(await progress.caughtUp(LONG_MS, ['a'], last)).to.equal(true);
    progress.moved(['a#0/2'], at(5));
    expect(await progress.caughtUp(LONG_MS)).to.equal(true);
  });

  it('of a partitioned consumer with another version fails reads', async () => {
    progress = new LogProgress(() => now, ['a'], new Map([['a', 2]]));
    progress.sawHead(at(3));
    progress.heard([{ name: 'a#1/2', version: 3 }], at(3));
    expect([progress.isOtherVersion('a'), await progress.caughtUp(LONG_MS)]).to.deep.equal([true, false]);
    progress.heard([{ name: 'a#1/2', version: 2 }], at(3));
    expect([progress.isOtherVersion('a'), progress.position]).to.deep.equal([false, null]);
    progress.heard([{ name: 'a#0/2', version: 2 }], at(3));
    expect(await progress.caughtUp(LONG_MS)).to.equal(true);
  });

  it('counts as stuck while nothing moves although there are events to process', () => {
    const stuck: number[] = [];
    const look = () => stuck.push(progress.stuckMs());
    now += 100;
    look(); // an empty log: nothing to process
    progress.sawHead(at(3));
    now += 10;
    look();
    progress.sawHead(at(4)); // more events don't restart the time
    now += 5;
    look();
    moved(at(2)); // behind, but moving
    look();
    now += 7;
    look();
    moved(at(4));
    now += 1_000;
    look();
    progress.sawHead(at(4)); // not a new head
    look();
    progress.sawHead(at(5));
    now += 3;
    look();
    expect(stuck).to.deep.equal([0, 10, 15, 0, 7, 0, 0, 3]);
  });

  it('follows heads from the store and moves from notices of its role', async () => {
    let announce: (head: Position) => void = () => undefined;
    let notify: (payload: string) => void = () => undefined;
    let restore: (head: Position | null) => void = () => undefined;
    let lose: () => void = () => undefined;
    const store = {
      head: async () => at(4),
      onHead: (listener: typeof announce) => {
        announce = listener;
      },
      onRestored: (listener: typeof restore) => {
        restore = listener;
      },
    } as unknown as EventStore;
    const notices = {
      on: async (channel: string, listener: typeof notify) => {
        expect(channel).to.equal('quita_progress');
        notify = listener;
      },
      onLost: (listener: typeof lose) => {
        lose = listener;
      },
    } as unknown as NotificationListener;
    await progress.follow(store, notices, 'projector');
    expect(progress.head).to.equal(at(4));
    announce(at(6));
    for (const payload of [
      '',
      'projector',
      `projector ${at(6)}`,
      `reactor ${at(6)} a:1,b:1`,
      `rebuild ${at(6)} a:1`,
      `projector ${at(6)} c:1`,
    ])
      notify(payload);
    expect([progress.head, progress.position]).to.deep.equal([at(6), null]);
    notify(`projector ${at(5)} a:1,c:1`);
    expect(progress.position).to.equal(null);
    notify(`projector ${at(5)} a:1:idle,b:1`);
    expect(progress.position).to.equal(at(5));
    restore(at(2));
    expect([progress.head, progress.position, progress.behind()]).to.deep.equal([at(2), null, ['a', 'b']]);
    notify(`projector ${at(2)} a:1,b:1`);
    expect([progress.position, progress.behind()]).to.deep.equal([at(2), []]);
    announce(at(3));
    expect(progress.head).to.equal(at(3));
    moved(at(3));
    lose();
    expect([progress.position, progress.behind()], 'the database may be restored').to.deep.equal([null, ['a', 'b']]);
    moved(at(3));
    expect(progress.position, 'moves before the loss may be heard of late').to.equal(null);
    notify('');
    expect(progress.position).to.equal(null);
    moved(at(2));
    expect([progress.position, progress.behind()]).to.deep.equal([at(2), ['a', 'b']]);
  });

  describe('per consumer', () => {
    const nobodyYet = (waiting: Promise<boolean>) => Promise.race([waiting, Promise.resolve('still waiting')]);

    it('is awaited only for the requested consumers, whatever the others do', async () => {
      progress.sawHead(at(4));
      const [forA, forB, forBoth] = [
        progress.caughtUp(LONG_MS, ['a']),
        progress.caughtUp(LONG_MS, ['b']),
        progress.caughtUp(LONG_MS),
      ];
      progress.moved(['a'], at(4));
      expect(await forA).to.equal(true);
      expect([await nobodyYet(forB), await nobodyYet(forBoth)]).to.deep.equal(['still waiting', 'still waiting']);
      progress.moved(['a'], at(9)); // moves ahead twice, which doesn't help the other consumer
      expect([await nobodyYet(forB), progress.position, progress.behind()]).to.deep.equal([
        'still waiting',
        null,
        ['b'],
      ]);
      progress.moved(['b'], at(4));
      expect([await forB, await forBoth]).to.deep.equal([true, true]);
      expect(await progress.caughtUp(LONG_MS, [])).to.equal(true);
    });

    it('names consumers that stand still, and not those that move although behind', () => {
      progress.sawHead(at(4));
      now += 1_000;
      progress.moved(['a'], at(3));
      now += 500;
      expect([progress.stuckMs('a'), progress.stuckMs('b'), progress.stuckMs()]).to.deep.equal([500, 1_500, 1_500]);
      expect([progress.standingStill(1_000), progress.standingStill(1_500), progress.standingStill(100)]).to.deep.equal(
        [['b'], [], ['a', 'b']],
      );
      expect(progress.standingStill(100, 1_000), 'the other one has failed').to.deep.equal(['a']);
      progress.moved(['b'], at(4));
      progress.moved(['a'], at(4));
      now += 9_000;
      expect([progress.standingStill(0), progress.behind()]).to.deep.equal([[], []]);
    });
  });
});
