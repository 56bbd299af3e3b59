// Sealing the log on both event stores: in commit order, by any number of processes, and never as two trees (rules U1–U3).
import { execFileSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { EMPTY_EDGE, edgeRoot, extended, type Tile, tiledRangeHashes } from '../../../application/audit/tiles.ts';
import { tileHashes } from '../../../application/audit/treeReader.ts';
import { verifyLog } from '../../../application/audit/verifyLog.ts';
import type { AuditTree } from '../../../application/ports/auditTree.ts';
import { EMPTY_STREAM, type EventStore } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { auditAnchors } from '../../../infrastructure/audit/auditAnchors.ts';
import { auditKeys } from '../../../infrastructure/audit/auditKeys.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { AuditWorld, KEYRING, leavesOf, ORIGIN } from './auditWorld.ts';

const DELIVERY = 'webhookDelivery-d1' as StreamName;
const deliver = (store: EventStore, revision: number) =>
  store.append(DELIVERY, revision - 1, [
    {
      id: `00000000-0000-8000-a000-00000000000${revision}`,
      type: 'WebhookDeliverySucceeded',
      data: '{}',
      metadata: '{}',
    },
  ]);

/** Appends events of another payment. */
const appendOthers = async (store: EventStore, count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) => ({
    id: `10000000-0000-8000-a000-${String(n).padStart(12, '0')}`,
    type: 'Other',
    data: '{}',
    metadata: '{}',
  }));
  await store.append('payment-other' as StreamName, EMPTY_STREAM, events);
};

describe('the sealer', () => {
  let world: AuditWorld;
  before(async () => {
    world = await AuditWorld.open();
  });
  beforeEach(() => world.reset());
  after(() => world.close());

  for (const [name, direction] of [
    ['PostgreSQL', 'to'],
    ['EventStoreDB', 'from'],
  ] as const)
    describe(`with the log in ${name}`, () => {
      const fill = async (from: number, to: number): Promise<EventStore> => {
        const log = await world.log(direction);
        await world.moving.fill(log, from, to);
        return log.store;
      };

      it('appends a leaf for each event in commit order, and signs the tree', async () => {
        const store = await fill(0, 20);
        const sealer = world.sealer(store);
        await sealer.sealAll();
        await fill(20, 25);
        await sealer.sealAll();
        expect(await world.signedSizes()).to.deep.equal([20, 25]);
        await world.expectSound(store);
      });

      it('signs nothing new when it runs again', async () => {
        const store = await fill(0, 5);
        const sealer = world.sealer(store);
        await sealer.sealAll();
        const first = await world.tree.latest();
        await sealer.sealAll();
        await world.sealer(store).sealAll();
        expect(await world.tree.latest()).to.deep.equal(first);
        expect(await world.signedSizes()).to.deep.equal([5]);
      });

      it('skips events of deliveries', async () => {
        const store = await fill(0, 3);
        await deliver(store, 0);
        await fill(3, 5);
        await deliver(store, 1);
        const sealer = world.sealer(store);
        await sealer.sealAll();
        expect(await world.signedSizes()).to.deep.equal([5]);
        await world.expectSound(store);
        await world.sealer(store).sealAll(); // begins at the last leaf, which precedes a delivery
        expect(world.alerts).to.deep.equal([]);
      });

      it('stores full tiles, and every tile is readable before and after a restart', async () => {
        const store = await fill(0, 300);
        await world.sealer(store).sealAll();
        await fill(300, 530);
        await world.sealer(store).sealAll();
        await world.expectSound(store);
        const { rows } = await world.pool.query<{ level: number; index: number }>(
          'SELECT level, index FROM audit.tiles ORDER BY level, index',
        );
        expect(rows).to.deep.equal([
          { level: 0, index: 0 },
          { level: 0, index: 1 },
        ]);
        const leaves = Buffer.concat(await leavesOf(store));
        const readTile = (tile: Tile) => tileHashes({ store, auditTree: world.tree }, tile);
        for (const size of [1, 256, 257, 300, 512, 530])
          expect(await tiledRangeHashes(readTile, size)(0, size), String(size)).to.deep.equal(
            edgeRoot(extended(EMPTY_EDGE, leaves.subarray(0, size * 32)).edge),
          );
      });

      it('resumes from the stored tree after a crash between append and commit', async () => {
        const store = await fill(0, 10);
        await world.sealer(store).sealAll();
        await fill(10, 20);
        await world.sealer(store).hash(); // the process ends here
        expect(await world.size()).to.equal(10);
        await world.sealer(store).sealAll();
        expect(await world.signedSizes()).to.deep.equal([10, 20]);
        await world.expectSound(store);
      });

      it('adds nothing twice if it resumes after another process has sealed', async () => {
        const store = await fill(0, 10);
        const frozen = world.sealer(store);
        await frozen.hash();
        const other = world.sealer(store);
        await fill(10, 14);
        await other.sealAll();
        await frozen.sign();
        expect(await world.size()).to.equal(14);
        await fill(14, 16);
        await frozen.sealAll();
        expect((await world.signedSizes()).at(-1)).to.equal(16);
        await world.expectSound(store);
      });

      it('signs no fork if it resumes after the tree was replaced', async () => {
        const store = await fill(0, 10);
        const thaw = Promise.withResolvers<void>();
        const isFrozen = Promise.withResolvers<void>();
        const notes: string[] = [];
        const auditTree: AuditTree = {
          ...world.tree,
          sign: async (checkpoint, root) => {
            isFrozen.resolve();
            await thaw.promise;
            const isSigned = await world.tree.sign(checkpoint, root);
            if (isSigned) notes.push(checkpoint.note);
            return isSigned;
          },
        };
        const frozen = world.sealer(store, { auditTree });
        await frozen.hash();
        const signing = frozen.sign();
        await isFrozen.promise;
        // An older backup is restored, and another tree of the same size grows.
        await world.pool.query("UPDATE audit.tree SET root = decode(repeat('00', 32), 'hex')");
        thaw.resolve();
        await signing;
        expect(notes).to.deep.equal([]);
        expect(await world.signedSizes()).to.deep.equal([]);
      });

      it('stops if the log is shorter than the sealed tree, and reports it once', async () => {
        const store = await fill(0, 10);
        await world.sealer(store).sealAll();
        const sealer = world.sealer(await world.shortened(direction, 6)).sealer;
        await sealer.seal();
        await sealer.seal();
        expect(world.alerts).to.have.length(1);
        expect((await world.tree.find())?.stopped).to.equal(world.alerts[0]);
        expect(await world.size()).to.equal(10);
      });

      it('stops if the log was truncated and has grown again', async () => {
        const store = await fill(0, 10);
        await world.sealer(store).sealAll();
        const shorter = await world.shortened(direction, 6);
        for (let revision = 0; revision < 9; revision++)
          await shorter.append('payment-other' as StreamName, revision - 1, [
            { id: `10000000-0000-8000-a000-00000000000${revision}`, type: 'Other', data: '{}', metadata: '{}' },
          ]);
        await world.sealer(shorter).sealer.seal();
        expect(world.alerts).to.have.length(1);
        expect(await world.signedSizes()).to.deep.equal([10]);
      });
    });

  describe('when the log changes', () => {
    const change = async (text: string) => {
      await world.moving.leave();
      await loseFacts(world.pool, text);
      return (await world.log('to')).store;
    };
    beforeEach(async () => {
      const log = await world.log('to');
      await world.moving.fill(log, 0, 10);
      await world.sealer(log.store).sealAll();
    });

    it('stops at changed bytes, names the entries, and resumes when the log is restored', async () => {
      await world.pool.query('CREATE TABLE kept AS SELECT * FROM event_store.events');
      const changed = await change("UPDATE event_store.events SET data = '{}' WHERE position = 2");
      const sealer = world.sealer(changed);
      await sealer.sealer.seal();
      expect(world.alerts).to.deep.equal(['entries 0 to 9 of the event log are not those that were sealed']);
      const restored = await change(
        'UPDATE event_store.events e SET data = k.data FROM kept k WHERE k.position = e.position',
      );
      await world.pool.query('DROP TABLE kept');
      world.aheadMs += 61_000;
      await world.moving.fill(await world.log('to'), 10, 12);
      const after = world.sealer(restored);
      await after.sealAll();
      expect(world.alerts.slice(1)).to.deep.equal(['resumed']);
      expect(await world.signedSizes()).to.deep.equal([10, 12]);
      await world.expectSound(restored);
    });

    it('stops at a log with another store ID', async () => {
      const changed = await change("UPDATE event_store.store SET id = 'another'");
      await world.sealer(changed).sealer.seal();
      expect(world.alerts[0]).to.match(/^event store .+ was sealed, but this one is another/);
    });

    it('stores nothing while stopped', async () => {
      const { store } = await world.log('to');
      await world.tree.setStopped('for a test');
      const { root } = (await world.tree.find())!;
      expect(await world.tree.grow({ size: 10, root }, { size: 11, root, position: null }, [])).to.equal(false);
      expect(await world.tree.sign({ size: 10, note: 'x' }, root)).to.equal(false);
      await world.sealer(store).sealAll();
      expect(world.alerts).to.deep.equal(['resumed']);
    });
  });

  describe('when the tree in the database is set back to an older state', () => {
    let store: EventStore;
    beforeEach(async () => {
      const log = await world.log('to');
      await world.moving.fill(log, 0, 300);
      await world.sealer(log.store).sealAll();
      const { size, root, position } = (await world.tree.find())!;
      await world.moving.fill(log, 300, 530);
      await world.sealer(log.store).sealAll();
      await world.pool.query('UPDATE audit.tree SET size = $1, root = $2, position = $3', [size, root, position]);
      await world.pool.query('DELETE FROM audit.tiles WHERE index > 0');
      store = log.store;
    });
    const verify = async () =>
      await verifyLog({ ...world.needs, store })({
        signal: new AbortController().signal,
        onEntries: () => undefined,
      });

    it('grows again to the newest checkpoint and signs further ones, if the log has the same entries', async () => {
      expect(await verify()).to.deep.equal({
        size: 300,
        signed: 300,
        faults: [{ from: 300, to: 529, what: 'missing from the tree' }],
      });
      await world.sealer(store).sealAll();
      expect(await world.size()).to.equal(530);
      await world.moving.fill(await world.log('to'), 530, 540);
      await world.sealer(store).sealAll();
      expect(world.alerts).to.deep.equal([]);
      expect(await world.signedSizes()).to.deep.equal([300, 530, 540]);
      expect(await verify()).to.deep.equal({ size: 540, signed: 540, faults: [] });
    });

    it('stops if the log is shorter than the newest checkpoint', async () => {
      store = await world.shortened('to', 310);
      await world.sealer(store).sealer.seal();
      expect(world.alerts).to.deep.equal([
        'the database has a checkpoint of 530 entries, but the event log has only 310: was a backup restored?',
      ]);
    });

    for (const [checkpoints, sizes] of [
      ['', [300, 530]],
      [', also without the older ones', [530]],
    ] as const)
      it(`stops if other entries lead to the newest checkpoint${checkpoints}`, async () => {
        await world.pool.query('DELETE FROM audit.checkpoints WHERE size <> ALL ($1)', [sizes]);
        store = await world.shortened('to', 300);
        await appendOthers(store, 240);
        await world.sealer(store).sealer.seal();
        expect(world.alerts).to.deep.equal([
          'the first 530 entries are not those of the checkpoint in the database: was a backup restored?',
        ]);
        expect((await world.tree.find())?.stopped).to.equal(world.alerts[0]);
        expect(await world.signedSizes()).to.deep.equal(sizes);
      });

    it('stops if the newest checkpoint is not signed by a key of the log', async () => {
      await world.pool.query(
        "UPDATE audit.checkpoints SET note = replace(note, E'\\n530\\n', E'\\n300\\n') WHERE size = 530",
      );
      await world.sealer(store).sealer.seal();
      expect(world.alerts).to.deep.equal(['checkpoint 530 in the database is not signed by a key of this log']);
    });

    it('is reported by `audit verify`, also if the tree is gone', async () => {
      await world.pool.query('TRUNCATE audit.tree');
      const faults = [{ from: 0, to: 529, what: 'missing from the tree' }];
      expect(await verify()).to.deep.equal({ size: 0, signed: 0, faults });
    });
  });

  describe('after a backup is restored', () => {
    const restoreBoth = async (entries: number): Promise<EventStore> => {
      const store = await world.shortened('to', entries);
      await world.pool.query('TRUNCATE audit.tree, audit.tiles, audit.checkpoints, audit.cosignatures');
      return store;
    };
    let folder: string;
    let auditSettings: { anchors: string[] };
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'quita-anchor-'));
      auditSettings = { anchors: [join(folder, 'checkpoints')] };
      const log = await world.log('to');
      for (const to of [4, 10]) {
        await world.moving.fill(log, to === 4 ? 0 : 4, to);
        await world.sealer(log.store).sealAll();
        await auditAnchors(world.pool).append(join(folder, 'checkpoints'), (await world.tree.latest())!.note);
      }
    });
    afterEach(() => rm(folder, { recursive: true }));

    it('stops if an anchor file has a checkpoint with more entries than the log', async () => {
      const store = await restoreBoth(6);
      await world.sealer(store, { auditSettings }).sealer.seal();
      expect(world.alerts).to.deep.equal([
        `${folder}/checkpoints has a checkpoint of 10 entries, but the event log has only 6: was a backup restored?`,
      ]);
      expect(await world.signedSizes()).to.deep.equal([]);
    });

    it('stops if the log has grown again with entries that don’t match the anchored checkpoint', async () => {
      const store = await restoreBoth(6);
      for (let revision = 0; revision < 6; revision++)
        await store.append('payment-other' as StreamName, revision - 1, [
          { id: `10000000-0000-8000-a000-00000000000${revision}`, type: 'Other', data: '{}', metadata: '{}' },
        ]);
      await world.sealer(store, { auditSettings }).sealer.seal();
      expect(world.alerts[0]).to.contain('the first 10 entries are not those of the checkpoint in');
    });

    it('grows again to the anchored checkpoint if only the tree was restored', async () => {
      const { store } = await world.log('to');
      await world.pool.query('TRUNCATE audit.tree, audit.tiles, audit.checkpoints, audit.cosignatures');
      await world.sealer(store, { auditSettings }).sealAll();
      expect(world.alerts).to.deep.equal([]);
      expect(await world.signedSizes()).to.deep.equal([10]);
      await world.expectSound(store);
    });

    it('stops if the tree was sealed again with entries that don’t match the anchored checkpoint', async () => {
      const store = await restoreBoth(6);
      for (let revision = 0; revision < 6; revision++)
        await store.append('payment-other' as StreamName, revision - 1, [
          { id: `10000000-0000-8000-a000-00000000000${revision}`, type: 'Other', data: '{}', metadata: '{}' },
        ]);
      await world.sealer(store).sealAll(); // without the file, the fork is not detected
      expect(world.alerts).to.deep.equal([]);
      await world.sealer(store, { auditSettings }).sealer.seal();
      expect(world.alerts[0]).to.contain('the first 10 entries are not those of the checkpoint in');
    });

    it('stops although the machine failed while it wrote a later checkpoint to the anchor file', async () => {
      const path = join(folder, 'checkpoints');
      const whole = await readFile(path, 'utf8');
      const store = await restoreBoth(6);
      const root = Buffer.alloc(32).toString('base64');
      for (const later of [
        `${ORIGIN}\n12\nAAAA`,
        `${ORIGIN}\n12\n${root}\n\n— ${ORIGIN} AAAAAAAA`,
        'x'.repeat(60_000),
      ]) {
        await writeFile(path, whole + later);
        await world.tree.setStopped(null);
        world.alerts.length = 0;
        await world.sealer(store, { auditSettings }).sealer.seal();
        expect(world.alerts).to.deep.equal([
          `${path} has a checkpoint of 10 entries, but the event log has only 6: was a backup restored?`,
        ]);
      }
    });

    it('finds a checkpoint that was appended to an incomplete one', async () => {
      const path = join(folder, 'checkpoints');
      const whole = await readFile(path, 'utf8');
      await writeFile(path, `${ORIGIN}\n12\nAAAA${whole.slice(whole.lastIndexOf(`${ORIGIN}\n`))}`);
      const store = await restoreBoth(6);
      await world.sealer(store, { auditSettings }).sealer.seal();
      expect(world.alerts).to.deep.equal([
        `${path} has a checkpoint of 10 entries, but the event log has only 6: was a backup restored?`,
      ]);
    });

    it('stops if the anchor file has no checkpoint of this log', async () => {
      const { store } = await world.log('to');
      const path = join(folder, 'nonsense');
      await writeFile(path, 'a\nb\nc\n\nd\n');
      await world.sealer(store, { auditSettings: { anchors: [path] } }).sealer.seal();
      expect(world.alerts).to.deep.equal([
        `${path} has no checkpoint that a key of ${ORIGIN} signed: does it belong to another log?`,
      ]);
    });

    it('continues if the anchor file matches, is missing, empty or does not answer', async () => {
      const { store } = await world.log('to');
      await writeFile(join(folder, 'empty'), '');
      const hung = join(folder, 'hung');
      execFileSync('mkfifo', [hung]);
      const anchors = [...auditSettings.anchors, join(folder, 'missing'), join(folder, 'empty'), hung, 'a@example.com'];
      const files = auditAnchors(world.pool, 1_000);
      await world.sealer(store, { auditSettings: { anchors }, auditAnchors: files }).sealAll();
      expect(world.alerts).to.deep.equal([]);
      await (await open(hung, 'w')).close(); // ends the reader
    });
  });

  it('signs with the newest key, and old checkpoints stay valid', async () => {
    const log = await world.log('to');
    const keys = auditKeys(world.pool, async () => KEYRING);
    const sealer = world.sealer(log.store);
    await world.moving.fill(log, 0, 3);
    await sealer.sealAll();
    await keys.rotate();
    await world.moving.fill(log, 3, 5);
    await sealer.sealAll();
    expect(await keys.list()).to.have.length(2);
    await world.expectSound(log.store);
    const [first, second] = await world.keyIdsOfSignatures();
    expect(first).not.to.deep.equal(second);
  });
});
