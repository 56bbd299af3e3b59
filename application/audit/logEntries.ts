// Reads the entries of the audit log with their indexes, and finds the index of an entry.
import type { AuditTree } from '../ports/auditTree.ts';
import type { EventStore, Position, RecordedEvent } from '../ports/eventStore.ts';
import { isEntry } from './entry.ts';
import { TILE_WIDTH, widthOf } from './tiles.ts';
import { entriesOfTile } from './treeReader.ts';

interface Needs {
  readonly store: Pick<EventStore, 'subscribe' | 'eventIdAt'>;
  readonly auditTree: Pick<AuditTree, 'tile' | 'roots'>;
}

export interface IndexedEntry {
  readonly index: number;
  readonly event: RecordedEvent;
}

/** Returns the last tile up to `tile` before which the log still has the sealed event, and the position of that event. */
const startBefore = async (
  { store, auditTree }: Needs,
  tile: number,
): Promise<{ readonly tile: number; readonly after: Position | null }> => {
  for (let at = tile; at > 0; at--) {
    const after = (await auditTree.tile(0, at - 1))?.position ?? null;
    if (after !== null && (await store.eventIdAt(after)) !== null) return { tile: at, after };
  }
  return { tile: 0, after: null };
};

/**
 * Yields the entries from index `first` to `end`, exclusive, in pages; fewer if the log ends before. An event that was removed from the log
 * shifts the indexes of its tile only, because the last entry of each tile is known by its position.
 */
export async function* entriesBetween(
  needs: Needs,
  first: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<readonly IndexedEntry[]> {
  const start = await startBefore(needs, Math.floor(first / TILE_WIDTH));
  let index = start.tile * TILE_WIDTH;
  let tile = await needs.auditTree.tile(0, start.tile);
  for await (const batch of needs.store.subscribe({ after: start.after, categories: null, signal })) {
    if (batch.kind === 'caughtUp' || index >= end) return;
    if (batch.kind !== 'events') continue;
    const page: IndexedEntry[] = [];
    for (const event of batch.events) {
      if (!isEntry(event)) continue;
      if (event.position === tile?.position) index = (tile.index + 1) * TILE_WIDTH - 1;
      if (index >= first && index < end) page.push({ index, event });
      index++;
      if (index % TILE_WIDTH === 0 && index < end) tile = await needs.auditTree.tile(0, index / TILE_WIDTH);
    }
    yield page;
  }
}

/** Returns the lowest number below `count` for which the answer is true, or `count`. The answer is true from some number on. */
const firstOf = async (count: number, isFrom: (number: number) => Promise<boolean>): Promise<number> => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isFrom(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

const tileEntries = (needs: Needs, size: number, index: number): Promise<readonly RecordedEvent[]> =>
  entriesOfTile(needs, { index, width: widthOf(size, { level: 0, index }) });

/** Returns the index of the first entry in the tree of this size that was recorded at the time or later, or the size. */
export const indexAt = async (needs: Needs, size: number, time: string): Promise<number> => {
  const isFrom = async (tile: number): Promise<boolean> =>
    ((await tileEntries(needs, size, tile)).at(-1)?.recordedAt ?? '') >= time;
  const tile = await firstOf(Math.ceil(size / TILE_WIDTH), isFrom);
  if (tile * TILE_WIDTH >= size) return size;
  const entries = await tileEntries(needs, size, tile);
  return tile * TILE_WIDTH + entries.findIndex(({ recordedAt }) => recordedAt >= time);
};

/** Returns the index of an event in the tree of this size, or null if the tree does not have it. */
export const indexOf = async (
  needs: Needs,
  size: number,
  { id, position }: Pick<RecordedEvent, 'id' | 'position'>,
): Promise<number | null> => {
  const full = Math.floor(size / TILE_WIDTH);
  const isFrom = async (tile: number): Promise<boolean> =>
    ((await needs.auditTree.tile(0, tile))?.position ?? '') >= position;
  const tile = await firstOf(full, isFrom);
  if (tile * TILE_WIDTH >= size) return null;
  const at = (await tileEntries(needs, size, tile)).findIndex((entry) => entry.id === id);
  return at < 0 ? null : tile * TILE_WIDTH + at;
};
