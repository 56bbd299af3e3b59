// Tiles of a Merkle tree (c2sp.org/tlog-tiles): 256 hashes each. A hash at level L is the root of a full tile at level L - 1.
import { HASH_BYTES, rangeHashes, rootOf } from './merkleTree.ts';

const TILE_HEIGHT = 8;
export const TILE_WIDTH = 2 ** TILE_HEIGHT;
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

export interface Tile {
  readonly level: number;
  readonly index: number;
  /** Number of hashes, from 1 to 256. */
  readonly width: number;
}

/** Returns the number of hashes that a tree of a size has at a level. */
const hashesAt = (size: number, level: number): number => Math.floor(size / TILE_WIDTH ** level);

/** Returns the width of a tile in the tree of a size; 0 if the tree doesn't have it. */
export const widthOf = (size: number, { level, index }: Omit<Tile, 'width'>): number =>
  Math.max(0, Math.min(TILE_WIDTH, hashesAt(size, level) - index * TILE_WIDTH));

/** Returns every tile of the tree of a size, level by level. */
export function* tilesOf(size: number): Generator<Tile> {
  for (let level = 0; hashesAt(size, level) > 0; level++) {
    const count = Math.ceil(hashesAt(size, level) / TILE_WIDTH);
    for (let index = 0; index < count; index++) yield { level, index, width: widthOf(size, { level, index }) };
  }
}

const indexPath = (index: number): string => {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) as string[];
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
};

/** Returns the path of a tile, or of a bundle of entries, below the log's prefix. */
export const tilePath = ({ level, index, width }: Omit<Tile, 'level'> & { level: number | 'entries' }): string =>
  `tile/${level}/${indexPath(index)}${width === TILE_WIDTH ? '' : `.p/${width}`}`;

const PATH = /^tile\/(?<level>entries|0|[1-9]\d?)\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Reads a path that tilePath wrote; null for every other text. */
export const readTilePath = (path: string): (Omit<Tile, 'level'> & { level: number | 'entries' }) | null => {
  const { level, index, width } = PATH.exec(path)?.groups ?? {};
  if (level === undefined || index === undefined) return null;
  const tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  } as const;
  const isWritten = Number.isSafeInteger(tile.index) && tile.width <= TILE_WIDTH && tilePath(tile) === path;
  return isWritten && (tile.level === 'entries' || tile.level < 64) ? tile : null;
};

/** Reads the hashes of a tile. A longer tile that begins with them is accepted. */
export type ReadTile = (tile: Tile) => Promise<Buffer> | Buffer;

/** Returns the range hashes of the tree of a size from its tiles. */
export const tiledRangeHashes = (readTile: ReadTile, size: number) =>
  rangeHashes(async (height, index) => {
    const level = Math.floor(height / TILE_HEIGHT);
    const count = 2 ** (height % TILE_HEIGHT);
    const first = index * count;
    const at = { level, index: Math.floor(first / TILE_WIDTH) };
    const hashes = await readTile({ ...at, width: widthOf(size, at) });
    const from = (first % TILE_WIDTH) * HASH_BYTES;
    return rootOf(hashes.subarray(from, from + count * HASH_BYTES));
  });

/** The growing end of a tree: the incomplete tile of each level. */
export interface TreeEdge {
  readonly size: number;
  /** By level; may be empty. */
  readonly partial: readonly Buffer[];
}
export const EMPTY_EDGE: TreeEdge = { size: 0, partial: [] };

export interface FullTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
  readonly root: Buffer;
}

/** Returns the edge after these leaf hashes, and the tiles that they complete, in their order at each level. */
export const extended = (edge: TreeEdge, leaves: Buffer): { edge: TreeEdge; full: readonly FullTile[] } => {
  const full: FullTile[] = [];
  const partial: Buffer[] = [];
  let added = leaves;
  for (let level = 0; added.length > 0; level++) {
    const hashes = Buffer.concat([edge.partial[level] ?? Buffer.alloc(0), added]);
    const first = Math.floor(hashesAt(edge.size, level) / TILE_WIDTH);
    const roots: Buffer[] = [];
    for (let at = 0; at + TILE_BYTES <= hashes.length; at += TILE_BYTES) {
      const tile = hashes.subarray(at, at + TILE_BYTES);
      const root = rootOf(tile);
      full.push({ level, index: first + roots.length, hashes: tile, root });
      roots.push(root);
    }
    partial.push(Buffer.from(hashes.subarray(roots.length * TILE_BYTES)));
    added = Buffer.concat(roots);
  }
  const unchanged = edge.partial.slice(partial.length);
  return { edge: { size: edge.size + leaves.length / HASH_BYTES, partial: [...partial, ...unchanged] }, full };
};

/** Returns the root of the tree. The root of an incomplete tile is the last hash of the level above. */
export const edgeRoot = ({ partial }: TreeEdge): Buffer => {
  let rest: Buffer = Buffer.alloc(0);
  for (const hashes of partial) {
    const level = Buffer.concat([hashes, rest]);
    rest = level.length === 0 ? level : rootOf(level);
  }
  return rootOf(rest);
};
