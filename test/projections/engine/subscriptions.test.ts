// One reader of the log serves many consumers: each takes every event exactly once, whatever happens to the leader (architecture §6).
import { expect } from 'chai';
import { type EventStore, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';
import { startPostgresProxy } from '../../world/tcpProxy.ts';
import {
  beforeStoring,
  Followed,
  Gate,
  interceptingCommits,
  interceptingLooks,
  notingMoves,
  Scene,
  taker,
} from './scene.ts';

describe('subscriptions to the log', () => {
  let scene: Scene;
  let started: Followed[] = [];
  const follow = (...args: ConstructorParameters<typeof Followed> extends [unknown, ...infer Rest] ? Rest : never) => {
    const followed = new Followed(scene, ...args);
    started.push(followed);
    return followed;
  };

  beforeEach(async () => {
    scene = await Scene.open();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((followed) => followed.stop()));
    await scene.close();
  });

  it('take each existing and new event once, in batches of at most the given size', async () => {
    await scene.appendPayments(20);
    const sizes: number[] = [];
    const consumers = [taker('a', (events) => void sizes.push(events.length)), taker('b')];
    const followed = follow({ consumers, batchSize: 7 });
    await followed.caughtUp();
    await scene.appendPayments(10);
    await followed.caughtUp();
    const all = await scene.positions();
    expect(all).to.have.length(90);
    expect(await scene.taken('a')).to.deep.equal(all);
    expect(await scene.taken('b')).to.deep.equal(all);
    expect(Math.max(...sizes)).to.equal(7);
    expect(followed.moves).to.deep.equal(followed.moves.toSorted());
    expect([await scene.checkpoint('a'), await scene.checkpoint('b')]).to.deep.equal([all.at(-1), all.at(-1)]);
    expect(followed.subscriptions.positions()).to.deep.equal(new Map(['a', 'b'].map((name) => [name, all.at(-1)])));
  });

  it('give a consumer events of its categories only, and advance its checkpoint past the others', async () => {
    await scene.appendPayment();
    await scene.store.append('strange-1' as never, -1, [
      { id: crypto.randomUUID(), type: 'T', data: '{}', metadata: '{}' },
    ]);
    const followed = follow({ consumers: [taker('a')] });
    await followed.caughtUp();
    expect(await scene.taken('a')).to.deep.equal(await scene.positions('payment'));
    const head = (await scene.positions()).at(-1);
    expect(followed.subscriptions.positions()).to.deep.equal(new Map([['a', head]]));
    expect(followed.subscriptions.faults()).to.deep.equal([]);
  });

  it('pause a consumer that is catching up after each batch, for as long as the batch took', async () => {
    await scene.appendPayments(20);
    const consumers = [taker('a'), taker('b')];
    const one = follow({ consumers });
    await one.caughtUp();
    await one.stop();
    const takenAt: number[] = [];
    const slow = taker('slow', async (_, tx) => {
      await tx.query('SELECT pg_sleep(0.05)'); // Simulates the work of a batch.
      takenAt.push(performance.now());
    });
    const two = follow({ consumers: [...consumers, slow], batchSize: 1 });
    await two.caughtUp(60_000);
    expect(takenAt).to.have.length(60);
    expect(takenAt[50]! - takenAt[30]!).to.be.greaterThan(20 * 2 * 50);
    expect(await scene.taken('slow')).to.deep.equal(await scene.positions());
  });

  describe('with a consumer that has no events to take', () => {
    const busy = taker('busy');
    const idle = { ...taker('idle'), categories: ['refund'] };
    const stored = async () => [await scene.checkpoint('busy'), await scene.checkpoint('idle')];

    it('store its checkpoint soon after, together with those of all other idle consumers', async () => {
      const moves: (readonly string[])[] = [];
      const other = { ...idle, name: 'other' };
      await scene.appendPayment();
      follow({ consumers: [busy, idle, other], openSession: notingMoves(scene.openSession, moves) });
      const head = (await scene.positions()).at(-1);
      await scene.backends.until(async () => (await stored()).every((position) => position === head));
      expect(await scene.checkpoint('other')).to.equal(head);
      expect(moves).to.deep.equal([['busy'], ['idle', 'other']]);
      expect(await scene.eventId('idle'))
        .to.equal(await scene.eventId('busy'))
        .and.not.to.equal(null);
    });

    it('store its checkpoint when the program stops', async () => {
      const followed = follow({ consumers: [busy, idle] });
      await followed.caughtUp();
      await scene.appendPayment();
      await followed.caughtUp();
      await followed.stop();
      const head = (await scene.positions()).at(-1);
      expect(await stored()).to.deep.equal([head, head]);
      expect(followed.restarts).to.deep.equal([]);
    });

    it('store its checkpoint with the batch if decisions depend on it', async () => {
      const moves: (readonly string[])[] = [];
      const decidedOn = { ...idle, name: 'decided on', isDecidedOn: true };
      const gate = new Gate();
      const openSession = beforeStoring(notingMoves(scene.openSession, moves), () => gate.pass());
      await scene.appendPayment();
      const followed = follow({ consumers: [busy, idle, decidedOn], openSession });
      await followed.caughtUp();
      expect([moves, await scene.checkpoint('decided on')]).to.deep.equal([
        [['busy', 'decided on']],
        (await scene.positions()).at(-1),
      ]);
      gate.open();
    });

    it('announce its progress to other processes before storing it', async () => {
      const { notices, close } = await scene.listen();
      const progress = new LogProgress(() => performance.now(), ['busy', 'idle']);
      await progress.follow(scene.store, notices, 'projector');
      const gate = new Gate();
      follow({ consumers: [busy, idle], openSession: beforeStoring(scene.openSession, () => gate.pass()) });
      await scene.appendPayment();
      progress.sawHead((await scene.store.head())!);
      expect(await progress.caughtUp(30_000)).to.equal(true);
      expect(await stored()).to.deep.equal([(await scene.positions()).at(-1), null]);
      gate.open();
      await close();
    });

    it('restart when a copy of it was swapped in', async () => {
      const followed = follow({ consumers: [busy, idle] });
      await scene.appendPayment();
      await followed.caughtUp();
      const head = (await scene.positions()).at(-1);
      await scene.backends.until(async () => (await stored()).every((position) => position === head));
      await scene.log.sql.query("UPDATE subscriptions.checkpoints SET swaps = 1 WHERE name = 'idle'");
      await scene.appendPayment();
      const next = (await scene.positions()).at(-1);
      await scene.backends.until(async () => (await stored()).every((position) => position === next));
      expect(followed.restarts.map(({ message }) => message)).to.deep.equal([
        'another process moved the checkpoint of idle',
      ]);
      expect(followed.faults).to.deep.equal([]);
      expect(await scene.taken('busy')).to.deep.equal(await scene.positions());
    });
  });

  it('resume from their checkpoints after a restart, and start a new consumer at the first event', async () => {
    await scene.appendPayments(3);
    const first = follow({ consumers: [taker('a')] });
    await first.caughtUp();
    await first.stop();
    await first.stop();
    await scene.appendPayments(2);
    const second = follow({ consumers: [taker('a'), taker('new')], batchSize: 4 });
    await second.caughtUp();
    const all = await scene.positions();
    expect(await scene.taken('a')).to.deep.equal(all);
    expect(await scene.taken('new')).to.deep.equal(all);
  });

  describe('with one leader at a time', () => {
    it('hand over within 5 s when the leader stops', async () => {
      const first = follow({ consumers: [taker('a')] });
      await scene.appendPayments(2);
      await first.caughtUp();
      const second = follow({ consumers: [taker('a')] });
      await scene.backends.until(async () => (await scene.backends.of('quita projector')).length === 2);
      expect([first.subscriptions.isLeading, second.subscriptions.isLeading]).to.deep.equal([true, false]);
      await first.stop();
      await scene.appendPayments(2);
      await second.caughtUp(5_000);
      expect([first.subscriptions.isLeading, second.subscriptions.isLeading]).to.deep.equal([false, true]);
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    });

    it('hand over within 5 s each time the leader’s connection is cut while events arrive', async () => {
      const both = [
        follow({ consumers: [taker('a')], batchSize: 5 }),
        follow({ consumers: [taker('a')], batchSize: 5 }),
      ] as const;
      const restarts = () => both.flatMap((followed) => followed.restarts);
      for (let cut = 0; cut < 3; cut++) {
        await scene.backends.until(async () => both.some(({ subscriptions }) => subscriptions.isLeading));
        const appending = scene.appendPayments(20);
        expect(await scene.cutLeader('a')).to.equal(true);
        await appending;
        await Promise.any(both.map((followed) => followed.caughtUp(5_000)));
        await scene.backends.until(async () => restarts().length > cut); // Until then the cut leader may still appear to lead.
      }
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
      expect(both.flatMap(({ faults }) => faults)).to.deep.equal([]);
      expect(restarts()).to.have.length(3);
    });

    it('restart once when the connection is cut during the check for parked streams to retry', async () => {
      let looks = 0;
      const openSession = interceptingLooks(scene.openSession, async (session) => {
        if (looks++ > 0) return;
        await Promise.all([session.query('SELECT pg_sleep(60)'), scene.cutLeader('a')]);
      });
      await scene.appendPayments(2);
      const followed = follow({ consumers: [taker('a')], openSession });
      await scene.backends.until(async () => looks === 2);
      await followed.caughtUp();
      expect(followed.restarts).to.have.length(1);
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    });

    it('keep a leader that lost its lock during a batch from committing it', async () => {
      const gate = new Gate();
      let batches = 0;
      await scene.appendPayments(2);
      const old = follow({ consumers: [taker('a', () => (batches++ === 0 ? gate.pass() : undefined))] });
      await gate.reached;
      const next = follow({ consumers: [taker('a')] });
      await scene.backends.until(async () => (await scene.backends.of('quita projector')).length === 2);
      await scene.cutLeader('a');
      await Promise.any([old.caughtUp(), next.caughtUp()]); // Either may take over first, on a new connection.
      gate.open();
      await scene.appendPayments(1);
      await Promise.any([old.caughtUp(), next.caughtUp()]);
      expect([...old.faults, ...next.faults]).to.deep.equal([]);
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    });

    it('roll back a batch if another process moved the checkpoint, and restart from its position', async () => {
      const gate = new Gate();
      await scene.appendPayments(2);
      const followed = follow({ consumers: [taker('a', () => gate.pass()), taker('b')], batchSize: 2 });
      await gate.reached;
      const all = await scene.positions();
      await scene.log.sql.query("UPDATE subscriptions.checkpoints SET position = $1 WHERE name = 'a'", [all[3]]);
      gate.open();
      await followed.caughtUp();
      expect(followed.restarts.map(({ name }) => name)).to.deep.equal(['LostLeadership']);
      expect(await scene.taken('a')).to.deep.equal(all.slice(4));
      expect(await scene.taken('b')).to.deep.equal(all);
    });

    for (const [where, arm, kept] of [
      ['before it arrives', 'swallowRequests', 0],
      ['before its answer arrives', 'swallowAnswers', 3],
    ] as const)
      it(`take each event once when COMMIT is cut ${where}`, async () => {
        const proxy = await startPostgresProxy(scene.log.connectionString);
        const cut = new Gate();
        let commits = 0;
        const openSession = interceptingCommits(
          leaderSessions(connectionConfig(proxy.connectionString, 'test')),
          () => {
            if (++commits !== 1) return;
            proxy[arm]();
            void proxy.sees('COMMIT').then(() => cut.pass());
          },
        );
        await scene.appendPayment();
        const followed = follow({ consumers: [taker('a')], openSession, batchSize: 3 });
        await cut.reached;
        if (kept > 0) await scene.backends.until(async () => (await scene.taken('a')).length === kept);
        expect(followed.moves).to.deep.equal([]);
        proxy.heal();
        await scene.appendPayment();
        await followed.caughtUp();
        expect(followed.restarts).to.have.length(1);
        expect(followed.faults).to.deep.equal([]);
        expect(await scene.taken('a')).to.deep.equal(await scene.positions());
        await followed.stop();
        await proxy.close();
      });
  });

  describe('with a consumer that loses the connection', () => {
    it('restart without reporting a fault of that consumer', async () => {
      let cuts = 0;
      const unlucky = taker('unlucky', async (_, tx) => {
        if (cuts++ === 0) await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
      });
      await scene.appendPayments(2);
      const followed = follow({ consumers: [taker('a'), unlucky, taker('b')] });
      await followed.caughtUp();
      expect(followed.faults).to.deep.equal([]);
      expect(followed.restarts).to.have.length(1);
      for (const name of ['a', 'unlucky', 'b'])
        expect(await scene.taken(name), name).to.deep.equal(await scene.positions());
    });
  });

  describe('with a checkpoint of another log', () => {
    const checkpointOf = (storeId: string, position: string | null) =>
      scene.log.sql.query(
        "INSERT INTO subscriptions.checkpoints (name, version, store_id, position) VALUES ('a', 1, $1, $2)",
        [storeId, position],
      );

    it('stop when the checkpoint belongs to another event store', async () => {
      await scene.appendPayments(1);
      await checkpointOf('another store', (await scene.positions())[0] as string);
      const followed = follow({ consumers: [taker('a'), taker('b')] });
      const { name, message } = await followed.mismatch;
      expect(name).to.equal('CheckpointMismatch');
      expect(message).to.contain('another store').and.to.contain(scene.store.storeId);
      await followed.stop();
      expect([await scene.taken('a'), await scene.taken('b')]).to.deep.equal([[], []]);
      expect(followed.subscriptions.isLeading).to.equal(false);
    });

    it('stop when the log has no event at the checkpoint', async () => {
      await scene.appendPayments(1);
      await checkpointOf(scene.store.storeId, (await scene.positions())[0] as string);
      const unknown = new UnknownPosition('the event store has no event at position 1');
      const subscribe = (): never => {
        throw unknown;
      };
      const store: EventStore = { ...scene.store, subscribe };
      const followed = follow({ store, consumers: [taker('a'), taker('b')] });
      const { name, message } = await followed.mismatch;
      expect([name, message]).to.deep.equal(['CheckpointMismatch', unknown.message]);
      await followed.stop();
      expect([await scene.taken('a'), await scene.taken('b')]).to.deep.equal([[], []]);
    });

    it('stop when the checkpoint is beyond the head, or the log is empty', async () => {
      const ahead = '0000000000000000004';
      await checkpointOf(scene.store.storeId, ahead);
      const empty = follow({ consumers: [taker('a')] });
      expect((await empty.mismatch).message).to.contain(`up to ${ahead}, but it ends at nothing`);
      await scene.appendPayments(1);
      const behind = follow({ consumers: [taker('a')] });
      expect((await behind.mismatch).message).to.contain(`up to ${ahead}, but it ends at 0000000000000000003`);
      await scene.appendPayments(1);
      const leading = follow({ consumers: [taker('a')] });
      await leading.caughtUp();
      expect(await scene.taken('a')).to.deep.equal((await scene.positions()).slice(4));
    });
  });
});
