// Reads the tree of the audit log: its edge, its tiles and their entries. Incomplete tiles are not stored: their hashes are the leaves of
// the last events, or the roots of the full tiles below.
import type { AuditTree } from '../ports/auditTree.ts';
import type { EventStore, Position, RecordedEvent } from '../ports/eventStore.ts';
import { isEntry, leafOf } from './entry.ts';
import { HASH_BYTES } from './merkleTree.ts';
import { TILE_WIDTH, type Tile, type TreeEdge } from './tiles.ts';

export interface TreeNeeds {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly auditTree: Pick<AuditTree, 'tile' | 'roots'>;
}

/** The event log no longer matches the sealed entries. The message is for operators. */
export class LogDiffers extends Error {
  override name = 'LogDiffers';
}

/** Yields the first entries after a position in pages, up to this number, or fewer if the log ends. Throws UnknownPosition. */
export async function* entryPagesAfter(
  store: TreeNeeds['store'],
  after: Position | null,
  count: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const enough = new AbortController();
  let left = count;
  try {
    for await (const batch of store.subscribe({ after, categories: null, signal: enough.signal })) {
      if (batch.kind === 'caughtUp') return;
      if (batch.kind === 'events') {
        const entries = batch.events.filter(isEntry).slice(0, left);
        left -= entries.length;
        yield entries;
      }
      if (left === 0) return;
    }
  } finally {
    enough.abort();
  }
}

/** Returns the first entries of a tile, at most `width`. Throws LogDiffers if the log ends before. */
export const entriesOfTile = async (
  { store, auditTree }: TreeNeeds,
  { index, width }: Omit<Tile, 'level'>,
): Promise<readonly RecordedEvent[]> => {
  const before = index === 0 ? null : await auditTree.tile(0, index - 1);
  if (index > 0 && before === null) throw new LogDiffers(`the tile before entry ${index * TILE_WIDTH} is missing`);
  const entries: RecordedEvent[] = [];
  for await (const page of entryPagesAfter(store, before?.position ?? null, width)) entries.push(...page);
  if (entries.length === width) return entries;
  const end = index * TILE_WIDTH + entries.length;
  throw new LogDiffers(`the event log ends after ${end} entries, but ${index * TILE_WIDTH + width} were sealed`);
};

/** Returns the hashes of a tile that the tree has. Throws LogDiffers. */
export const tileHashes = async (needs: TreeNeeds, tile: Tile): Promise<Buffer> => {
  const { level, index, width } = tile;
  const stored = await needs.auditTree.tile(level, index);
  const from = index * TILE_WIDTH;
  const readHashes = async (): Promise<Buffer> =>
    level === 0
      ? Buffer.concat((await entriesOfTile(needs, tile)).map(leafOf))
      : await needs.auditTree.roots(level - 1, from, from + width);
  const hashes = (stored?.hashes ?? (await readHashes())).subarray(0, width * HASH_BYTES);
  if (hashes.length !== width * HASH_BYTES) throw new LogDiffers(`tile ${index} of level ${level} is incomplete`);
  return hashes;
};

/** Returns the edge of the tree of a size without an incomplete tile of leaves. */
export const edgeAt = async ({ auditTree }: Pick<TreeNeeds, 'auditTree'>, size: number): Promise<TreeEdge> => {
  const partial: Buffer[] = [];
  for (let level = 0; TILE_WIDTH ** level <= size; level++) {
    const end = Math.floor(size / TILE_WIDTH ** level);
    const from = end - (end % TILE_WIDTH);
    partial.push(level === 0 ? Buffer.alloc(0) : await auditTree.roots(level - 1, from, end));
  }
  return { size, partial };
};
