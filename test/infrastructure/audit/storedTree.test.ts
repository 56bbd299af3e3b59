// The stored tree: its size on disk, its compare-and-set, and the checkpoints it keeps (rules U2, U4).
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { EMPTY_ROOT } from '../../../application/audit/merkleTree.ts';
import { EMPTY_EDGE, edgeRoot, extended } from '../../../application/audit/tiles.ts';
import type { Position } from '../../../application/ports/eventStore.ts';
import { AuditWorld, ORIGIN } from './auditWorld.ts';

const POSITION = '0000000000000000001' as Position;

describe('the stored tree of the audit log', () => {
  let world: AuditWorld;
  before(async () => {
    world = await AuditWorld.open();
  });
  beforeEach(async () => {
    await world.reset();
    await world.tree.begin({ origin: ORIGIN, storeId: 'store', root: EMPTY_ROOT });
  });
  after(() => world.close());

  /** Grows the empty tree in steps and returns its last size and root. */
  const grow = async (steps: number, leavesPerStep: number) => {
    let edge = EMPTY_EDGE;
    let from = { size: 0, root: EMPTY_ROOT };
    for (let step = 0; step < steps; step++) {
      const next = extended(edge, randomBytes(leavesPerStep * 32));
      const to = { size: next.edge.size, root: edgeRoot(next.edge), position: POSITION };
      const tiles = next.full.map((tile) => ({ ...tile, position: tile.level === 0 ? POSITION : null }));
      expect(await world.tree.grow(from, to, tiles)).to.equal(true);
      edge = next.edge;
      from = to;
    }
    return from;
  };

  it('takes less than 60 bytes per leaf', async () => {
    const { size } = await grow(25, 4_096);
    expect((await world.bytes()) / size).to.be.lessThan(60);
  });

  it('grows only from its current size and root', async () => {
    const { size, root } = await grow(1, 10);
    const to = { size: 12, root: EMPTY_ROOT, position: POSITION };
    for (const from of [
      { size: 9, root },
      { size, root: EMPTY_ROOT },
    ])
      expect(await world.tree.grow(from, to, [])).to.equal(false);
    expect((await world.tree.find())?.size).to.equal(10);
  });

  it('is signed only with its current size and root, once per size', async () => {
    const { size, root } = await grow(1, 10);
    expect(await world.tree.sign({ size: 9, note: 'a' }, root)).to.equal(false);
    expect(await world.tree.sign({ size, note: 'b' }, EMPTY_ROOT)).to.equal(false);
    expect(await world.tree.sign({ size, note: 'c' }, root)).to.equal(true);
    expect(await world.tree.sign({ size, note: 'd' }, root)).to.equal(false);
    expect((await world.tree.latest())?.note).to.equal('c');
  });

  it('keeps its origin', async () => {
    const tree = await world.tree.begin({ origin: 'other', storeId: 'other', root: EMPTY_ROOT });
    expect([tree.origin, tree.storeId]).to.deep.equal([ORIGIN, 'store']);
  });

  it('keeps a day of checkpoints, then the last of each hour and the last that each witness cosigned', async () => {
    await world.pool.query(`INSERT INTO audit.checkpoints (size, note, signed_at)
      SELECT n, 'x', date_trunc('hour', now()) - interval '3 days' + n * interval '20 minutes' FROM generate_series(0, 8) n
      UNION ALL SELECT 100 + n, 'x', now() - n * interval '1 minute' FROM generate_series(0, 2) n`);
    for (const [size, witness] of [
      ...([
        [0, 'a'],
        [1, 'b'],
      ] as const), // the last that each witness cosigned in this hour
      ...([
        [3, 'a'],
        [4, 'a'],
        [4, 'b'],
      ] as const),
    ])
      await world.tree.cosign(size, witness, `${witness} of ${size}`);
    await world.tree.thinOut();
    await world.tree.thinOut();
    const { rows } = await world.pool.query<{ size: number }>('SELECT size FROM audit.checkpoints ORDER BY size');
    expect(rows.map(({ size }) => size)).to.deep.equal([0, 1, 2, 4, 5, 8, 100, 101, 102]);
    expect(await world.tree.cosignatures(3)).to.deep.equal([]);
    expect(await world.tree.cosignatures(4)).to.deep.equal(['a of 4', 'b of 4']);
  });

  it('thins out ten years of checkpoints, one per hour, within PostgreSQL’s time limit', async () => {
    await world.pool.query(`INSERT INTO audit.checkpoints (size, note, signed_at)
      SELECT h, 'x', date_trunc('hour', now()) - interval '2 days' - (87600 - h) * interval '1 hour' FROM generate_series(1, 87600) h
      UNION ALL SELECT 100000 + n, 'x', date_trunc('hour', now()) - interval '26 hours' + n * interval '5 s' FROM generate_series(0, 18000) n`);
    await world.pool.query('ANALYZE audit.checkpoints');
    await world.tree.thinOut(); // PostgreSQL cancels the statement after 30 s
    const text = `SELECT count(*)::int AS kept FROM audit.checkpoints WHERE signed_at < now() - interval '1 day'`;
    expect((await world.pool.query<{ kept: number }>(text)).rows[0]?.kept).to.be.within(87_601, 88_300);
  });
});
