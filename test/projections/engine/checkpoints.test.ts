// Checkpoints of consumers move by compare-and-set, so that a leader that was replaced commits nothing (architecture §6).
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../../application/ports/sql.ts';
import {
  assertSameLog,
  type Beginning,
  type Checkpoint,
  checkpointsToMove,
  createBeginnings,
  createCheckpoint,
  createFirstCheckpoint,
  isOfLog,
  moveCheckpoints,
  movedElsewhere,
  moveText,
  readAllCheckpoints,
  readCheckpoints,
  readPlaces,
  type Standing,
} from '../../../projections/engine/checkpoints.ts';
import { Followed, Scene, taker } from './scene.ts';

const position = (place: number): Position => String(place).padStart(19, '0') as Position;
const said = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('checkpoints', () => {
  let scene: Scene;
  let session: LeaderSession;
  beforeEach(async () => {
    scene = await Scene.open();
    session = await scene.openSession('test');
    for (const name of ['one', 'two']) await createFirstCheckpoint(session, { name, version: 1, storeId: 'store' });
  });
  afterEach(async () => {
    await session.close();
    await scene.close();
  });

  const standing = (name: string, at: Position | null, swaps = 0): Standing => ({
    name,
    version: 1,
    position: at,
    swaps,
  });
  const move = (from: readonly Standing[], to: Position, eventId: string | null = null) =>
    said(
      session.transaction((tx) =>
        moveCheckpoints(tx, 'projector', { moved: from, idle: [] }, { position: to, eventId }),
      ),
    );
  const positions = async () => (await readAllCheckpoints(session)).map(({ position: at, swaps }) => [at, swaps]);
  const LOST = 'LostLeadership: projector: another process moved a checkpoint';

  it('move from a known position, or from none', async () => {
    expect(await move([standing('one', null), standing('two', null)], position(1))).to.equal('done');
    expect(await move([standing('one', position(1))], position(2))).to.equal('done');
    expect(await positions()).to.deep.equal([
      [position(2), 0],
      [position(1), 0],
    ]);
  });

  it('of all processes begin at the start of the log in a new deployment, and are kept at the next start', async () => {
    await scene.appendPayment();
    const processes: readonly Beginning[] = [
      { name: 'process/a', from: 'now' },
      { name: 'process/b', from: 'beginning' },
    ];
    for (let start = 0; start < 2; start++) {
      await createBeginnings(session, scene.store, processes);
      const { storeId } = scene.store;
      const first = { version: 1, storeId, position: null, eventId: null, swaps: 0 };
      expect([...(await readCheckpoints(session, ['process/a', 'process/b'])).values()]).to.deep.equal([
        { name: 'process/a', ...first },
        { name: 'process/b', ...first },
      ]);
    }
  });

  it('of a process added later begin as declared: at the start of the log, or after the newest event', async () => {
    const old: Beginning = { name: 'process/old', from: 'now' };
    const added: readonly Beginning[] = [
      old,
      { name: 'process/now', from: 'now' },
      { name: 'process/all', from: 'beginning' },
    ];
    await createBeginnings(session, scene.store, [old]);
    await scene.appendPayment();
    await createBeginnings(session, scene.store, added);
    const before = await scene.positions();
    expect(await scene.checkpoint('process/now')).to.equal(before.at(-1));
    expect(await scene.eventId('process/now')).to.equal(await scene.store.eventIdAt(before.at(-1) as Position));
    expect([await scene.checkpoint('process/all'), await scene.checkpoint('process/old')]).to.deep.equal([null, null]);
    await scene.appendPayment();
    await createBeginnings(session, scene.store, added);
    expect(await scene.checkpoint('process/now'), 'the next start').to.equal(before.at(-1));
    const followed = new Followed(scene, { consumers: [taker('process/now'), taker('process/all')] });
    await followed.caughtUp();
    await followed.stop();
    const all = await scene.positions();
    expect(await scene.taken('process/now')).to.deep.equal(all.slice(before.length));
    expect(await scene.taken('process/all')).to.deep.equal(all);
  });

  it('cost at most twice as much to move by place while a transaction holds an old snapshot', async () => {
    const held = await scene.openSession('holder');
    let at = 0;
    let known: Standing = { ...standing('one', null), place: (await readPlaces(session, ['one'])).get('one')! };
    const moveOn = async (): Promise<void> => {
      at++;
      const places = await moveCheckpoints(
        session,
        'projector',
        { moved: [known], idle: [] },
        { position: position(at), eventId: null },
      );
      known = { ...standing('one', position(at)), place: places.get('one')! };
    };
    /** Returns the buffers that a move uses, and rolls it back. */
    const buffersOf = async (by: 'name' | 'place'): Promise<number> => {
      await session.query('BEGIN');
      const { rows } = await session.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>({
        text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${moveText(by)}`,
        values: [[], ['one'], [known.position], [0], position(at), null, by === 'place' ? [known.place] : null],
      });
      await session.query('ROLLBACK');
      const { Plan } = rows[0]!['QUERY PLAN'][0]!;
      expect(Plan['Actual Rows']).to.equal(1);
      return Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
    };
    await held.transaction(async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await tx.query('SELECT name FROM subscriptions.checkpoints');
      await moveOn();
      const before = await buffersOf('place');
      while (at < 2_000) await moveOn();
      const [byName, byPlace] = [await buffersOf('name'), await buffersOf('place')];
      expect(byPlace).to.be.at.most(2 * before);
      expect(byName, 'through all versions').to.be.above(4 * before);
    });
    expect(await positions()).to.deep.equal([
      [position(2_000), 0],
      [null, 0],
    ]);
    await held.close();
  });

  it('are not moved with the place of an older row version or of another checkpoint', async () => {
    const place = (await readPlaces(session, ['one'])).get('one')!;
    expect(await move([{ ...standing('one', null), place }], position(1))).to.equal('done');
    expect(await move([{ ...standing('one', position(1)), place }], position(2))).to.equal(LOST);
    const other = (await readPlaces(session, ['two'])).get('two')!;
    expect(await move([{ ...standing('one', position(1)), place: other }], position(2))).to.equal(LOST);
    expect(await positions()).to.deep.equal([
      [position(1), 0],
      [null, 0],
    ]);
  });

  it('all stay unchanged if another process moved one of them', async () => {
    await move([standing('two', null)], position(5));
    expect(await move([standing('one', null), standing('two', null)], position(6))).to.equal(LOST);
    expect(await positions()).to.deep.equal([
      [null, 0],
      [position(5), 0],
    ]);
  });

  it('stay unchanged if another copy was swapped in at the same position', async () => {
    await move([standing('one', null)], position(5));
    await createCheckpoint(session, {
      name: 'one',
      version: 1,
      storeId: 'store',
      position: position(5),
      eventId: null,
    });
    expect(await move([standing('one', position(5))], position(6))).to.equal(LOST);
    expect(await move([standing('one', position(5), 1)], position(6))).to.equal('done');
    expect(await positions()).to.deep.equal([
      [position(6), 1],
      [null, 0],
    ]);
  });

  it('report those that were moved, swapped or deleted by others', async () => {
    const ask = (...known: readonly Standing[]) => movedElsewhere(session, known);
    await move([standing('one', null)], position(5));
    expect(await ask(standing('one', position(5)), standing('two', null))).to.deep.equal([]);
    expect(await ask(standing('one', position(4)), standing('two', null))).to.deep.equal(['one']);
    expect(await ask(standing('one', null), standing('two', position(5)))).to.deep.equal(['one', 'two']);
    expect(await ask(standing('three', null))).to.deep.equal(['three']);
    await createCheckpoint(session, {
      name: 'one',
      version: 1,
      storeId: 'store',
      position: position(5),
      eventId: null,
    });
    expect(await ask(standing('one', position(5)))).to.deep.equal(['one']);
  });

  it('store the id of the event at their position, or null if it is unknown', async () => {
    const events = async () => (await readAllCheckpoints(session)).map(({ eventId }) => eventId);
    await move([standing('one', null)], position(1), 'a');
    expect(await events()).to.deep.equal(['a', null]);
    await move([standing('one', position(1)), standing('two', null)], position(2), null);
    expect(await events()).to.deep.equal([null, null]);
    await move([standing('two', position(2))], position(3), 'b');
    expect(await events()).to.deep.equal([null, 'b']);
  });

  it('are rejected if they have another store, a position beyond the head, or another event at their position', async () => {
    const judge = async (at: number | null, head: number | null, eventId: string | null = null, storeId = 'store') => {
      const checkpoint: Checkpoint = {
        ...standing('one', at === null ? null : position(at)),
        version: 1,
        storeId: 'store',
        eventId,
      };
      const asked: Position[] = [];
      const log = {
        storeId,
        head: async () => (head === null ? null : position(head)),
        eventIdAt: async (where: Position) => {
          asked.push(where);
          return where === position(1) ? null : `event ${Number(where)}`;
        },
      };
      const twice = said(assertSameLog(log, [checkpoint, checkpoint])).then((done) => [done, asked.length]);
      const [answer, times] = await twice;
      expect(times).to.be.at.most(1);
      expect(await isOfLog(log, checkpoint)).to.equal(answer === 'done');
      return String(answer).replace(/: (was|restore).*$/, '');
    };
    for (const [at, head, eventId] of [
      [null, null, null],
      [null, 3, null],
      [2, 3, null],
      [3, 3, null],
      [2, 3, 'event 2'],
      [1, 3, 'deleted since'],
    ] as const)
      expect(await judge(at, head, eventId)).to.equal('done');
    const beyond = `CheckpointMismatch: one has followed the event store up to ${position(4)}, but it ends at`;
    expect(await judge(4, 3)).to.equal(`${beyond} ${position(3)}`);
    expect(await judge(4, 3, 'event 4')).to.equal(`${beyond} ${position(3)}`);
    expect(await judge(4, null)).to.equal(`${beyond} nothing`);
    expect(await judge(3, 3, null, 'other')).to.equal(
      'CheckpointMismatch: one has followed event store store, but this one is other',
    );
    expect(await judge(2, 3, 'lost')).to.equal(
      `CheckpointMismatch: one has followed the event store up to event lost at ${position(2)}, but there it has event event 2`,
    );
  });

  it('are to be moved with their log, unless they follow the new one or belong to an unfinished copy', async () => {
    const log = { storeId: 'store', head: async () => null, eventIdAt: async () => null };
    const toMove = async () => (await checkpointsToMove(session, log, 'new')).map(({ name }) => name);
    const add = (name: string, storeId: string) => createFirstCheckpoint(session, { name, version: 1, storeId });
    await add('three', 'new');
    await add('one/next', 'third');
    expect(await toMove()).to.have.members(['one', 'two']);
    await add('four', 'third');
    expect(await said(toMove())).to.equal(
      'CheckpointMismatch: four has followed event store third, which is neither of the two: this is not the log of this database',
    );
  });
});
