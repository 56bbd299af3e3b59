// The tree continues when the log moves to another store and back: same leaves, same root, old checkpoints valid (ADR 0015).
import { expect } from 'chai';
import { leafOf } from '../../../application/audit/entry.ts';
import { entriesOfTile } from '../../../application/audit/treeReader.ts';
import { AuditWorld, leavesOf } from './auditWorld.ts';

describe('the audit log when the event log moves', () => {
  let world: AuditWorld;
  before(async () => {
    world = await AuditWorld.open();
    await world.reset();
  });
  after(() => world.close());

  const fill = async (direction: 'to' | 'from', from: number, to: number): Promise<void> => {
    const log = await world.log(direction);
    await world.moving.fill(log, from, to);
    await world.sealer(log.store).sealAll();
  };

  it('continues with the same leaves after moves to EventStoreDB and back', async () => {
    await fill('to', 0, 270);
    const before = await leavesOf((await world.log('to')).store);
    await world.moving.leave();
    await world.moving.run('to');

    const there = (await world.log('from')).store;
    expect(await leavesOf(there)).to.deep.equal(before);
    await fill('from', 270, 300);
    await world.moving.leave();
    await world.moving.run('from');

    await fill('to', 300, 530);
    const { store } = await world.log('to');
    expect(world.alerts).to.deep.equal([]);
    expect(await world.signedSizes()).to.deep.equal([270, 300, 530]);
    await world.expectSound(store);
    // The stored position of each tile leads to the events of the next tile.
    for (const index of [0, 1])
      expect((await entriesOfTile({ store, auditTree: world.tree }, { index, width: 32 })).map(leafOf)).to.deep.equal(
        (await leavesOf(store)).slice(index * 256, index * 256 + 32),
      );
  });

  it('stops if the log was not moved with Quita’s migration', async () => {
    await world.reset();
    await fill('to', 0, 3);
    const other = await world.log('from');
    await world.sealer(other.store).sealer.seal();
    expect(world.alerts[0]).to.contain('was sealed, but this one is');
  });
});
