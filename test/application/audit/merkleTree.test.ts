import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  EMPTY_ROOT,
  inclusionProof,
  leafHash,
  nodeHash,
  provenRoot,
  rootOf,
} from '../../../application/audit/merkleTree.ts';
import {
  EMPTY_EDGE,
  edgeRoot,
  extended,
  readTilePath,
  TILE_BYTES,
  TILE_WIDTH,
  type Tile,
  tiledRangeHashes,
  tilePath,
  tilesOf,
} from '../../../application/audit/tiles.ts';

/** The definition of RFC 6962, section 2.1. */
const naiveRoot = (leaves: readonly Buffer[]): Buffer => {
  if (leaves.length === 0) return hash('sha256', '', 'buffer');
  if (leaves.length === 1) return leaves[0] as Buffer;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return nodeHash(naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
};
const leavesOf = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, i) => leafHash(Buffer.from(String(i))));

// The test data of the reference implementation of Certificate Transparency.
const ENTRIES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** Returns all tiles of a tree that grew by these steps, stored as in a log: complete tiles as full tiles, the rest at the edge. */
const grown = (steps: readonly number[]) => {
  const leaves = leavesOf(steps.reduce((sum, step) => sum + step, 0));
  const kept = new Map<string, Buffer>();
  let edge = EMPTY_EDGE;
  for (const step of steps) {
    const next = extended(edge, Buffer.concat(leaves.slice(edge.size, edge.size + step)));
    for (const { level, index, hashes } of next.full) kept.set(`${level}/${index}`, hashes);
    edge = next.edge;
  }
  const readTile = ({ level, index }: Tile): Buffer => kept.get(`${level}/${index}`) ?? (edge.partial[level] as Buffer);
  return { leaves, edge, readTile };
};
const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 200, max: 300 })), {
  minLength: 1,
  maxLength: 5,
});

describe('the Merkle tree of the audit log', () => {
  it('has the roots of the standard test data', () => {
    const leaves = ENTRIES.map((hex) => leafHash(Buffer.from(hex, 'hex')));
    expect(ROOTS.map((_, i) => rootOf(Buffer.concat(leaves.slice(0, i + 1))).toString('hex'))).to.deep.equal(ROOTS);
    expect(EMPTY_ROOT.toString('hex')).to.equal('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('has the root of the recursive definition at every size up to 300 when grown leaf by leaf', () => {
    const leaves = leavesOf(300);
    let edge = EMPTY_EDGE;
    for (const [i, leaf] of leaves.entries()) {
      edge = extended(edge, leaf).edge;
      expect(edgeRoot(edge), `size ${i + 1}`).to.deep.equal(naiveRoot(leaves.slice(0, i + 1)));
      expect(rootOf(Buffer.concat(leaves.slice(0, i + 1)))).to.deep.equal(edgeRoot(edge));
    }
  });

  it('does not depend on the growth steps, and its tiles give the root of every earlier size (law)', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (by, pick) => {
        const { leaves, edge, readTile } = grown(by);
        expect(edge).to.deep.equal(extended(EMPTY_EDGE, Buffer.concat(leaves)).edge);
        const size = pick % (edge.size + 1);
        const root = await tiledRangeHashes(readTile, size)(0, size);
        expect(root).to.deep.equal(naiveRoot(leaves.slice(0, size)));
      }),
      { numRuns: 20 },
    );
  });

  it('fills tiles of three levels', () => {
    const count = TILE_WIDTH ** 2 + 3 * TILE_WIDTH + 7;
    const { edge, full } = extended(EMPTY_EDGE, Buffer.alloc(count * 32, 7));
    expect(full.filter(({ level }) => level === 1).map(({ index }) => index)).to.deep.equal([0]);
    expect(full.filter(({ level }) => level === 0)).to.have.length(TILE_WIDTH + 3);
    expect(edge.partial.map(({ length }) => length / 32)).to.deep.equal([7, 3, 1]);
    expect(edgeRoot(edge)).to.deep.equal(rootOf(Buffer.alloc(count * 32, 7)));
    expect(full.every(({ hashes }) => hashes.length === TILE_BYTES)).to.equal(true);
  });

  it('proves every leaf at its own index only (law)', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), fc.nat(), async (by, pickSize, pickIndex) => {
        const { leaves, edge, readTile } = grown(by);
        const size = 1 + (pickSize % edge.size);
        const index = pickIndex % size;
        const rangeHash = tiledRangeHashes(readTile, size);
        const proof = await inclusionProof(rangeHash, index, size);
        const root = naiveRoot(leaves.slice(0, size));
        expect(provenRoot(leaves[index] as Buffer, index, size, proof)).to.deep.equal(root);
        for (const other of [index - 1, index + 1])
          expect(provenRoot(leaves[index] as Buffer, other, size, proof)?.equals(root) ?? false).to.equal(false);
        expect(provenRoot(leafHash(Buffer.of(9)), index, size, proof)?.equals(root) ?? false).to.equal(false);
        expect(provenRoot(leaves[index] as Buffer, index, size, [...proof, root])?.equals(root) ?? false).to.equal(
          false,
        );
      }),
      { numRuns: 20 },
    );
  });
});

describe('tiles of the audit log', () => {
  it('match the standard’s example for a tree of size 70,000', () => {
    const tiles = [...tilesOf(70_000)];
    const count = (at: number, isFull: boolean) =>
      tiles.filter(({ level, width }) => level === at && (width === TILE_WIDTH) === isFull).length;
    expect([count(0, true), count(0, false), count(1, true), count(1, false), count(2, false)]).to.deep.equal([
      273, 1, 1, 1, 1,
    ]);
    expect(tiles.filter(({ width }) => width < TILE_WIDTH).map(({ width }) => width)).to.deep.equal([112, 17, 1]);
    expect([...tilesOf(256)]).to.deep.equal([
      { level: 0, index: 0, width: 256 },
      { level: 1, index: 0, width: 1 },
    ]);
  });

  for (const [tile, path] of [
    [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
    [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
    [{ level: 2, index: 1000, width: 1 }, 'tile/2/x001/000.p/1'],
    [{ level: 'entries', index: 999, width: 255 }, 'tile/entries/999.p/255'],
  ] as const)
    it(`have the path ${path}, which parses back`, () => {
      expect(tilePath(tile)).to.equal(path);
      expect(readTilePath(path)).to.deep.equal(tile);
    });

  for (const path of [
    'tile/0/0',
    'tile/0/0000',
    'tile/0/x000/001',
    'tile/0/001/002',
    'tile/00/001',
    'tile/64/001',
    'tile/0/001.p/0',
    'tile/0/001.p/256',
    'tile/0/001.p/01',
    'tile/0/001/',
    'tile/entry/001',
    'tile/0/x123/x456/x789/x123/x456/x789/123',
  ])
    it(`reject the path ${path}`, () => expect(readTilePath(path)).to.equal(null));
});
