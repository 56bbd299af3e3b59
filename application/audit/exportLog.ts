// Writes an audit export: entries of a period, the hash tiles of the whole tree, and signed checkpoints. Auditors verify it with the
// programs in docs/auditors. After an interruption, the same request continues and produces the same bytes.
import type { AccountId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree, SignedCheckpoint } from '../ports/auditTree.ts';
import { type EventStore, UnknownPosition } from '../ports/eventStore.ts';
import type { ExportFolder } from '../ports/exportFolder.ts';
import { entryBytes, metadataIn } from './entry.ts';
import { entriesBetween, type IndexedEntry, indexAt } from './logEntries.ts';
import { HASH_BYTES } from './merkleTree.ts';
import { noteKeysOf, vkeyOf } from './signedNote.ts';
import { tilePath, tilesOf } from './tiles.ts';
import { LogDiffers, tileHashes } from './treeReader.ts';

export interface ExportNeeds {
  readonly store: Pick<EventStore, 'subscribe' | 'eventIdAt'>;
  readonly auditTree: AuditTree;
  readonly auditKeys: Pick<AuditKeys, 'list'>;
}

export interface ExportPeriod {
  /** Inclusive; null: from the first entry. */
  readonly from: Timestamp | null;
  /** Exclusive; null: up to the newest checkpoint. */
  readonly to: Timestamp | null;
  /** Only entries of this account; null: all. */
  readonly account: AccountId | null;
}

export interface Manifest extends ExportPeriod {
  readonly format: typeof FORMAT;
  readonly origin: string;
  /** All public keys of the log, old ones included. */
  readonly keys: readonly string[];
  /** Indexes of the period's entries: `first` to `end`, exclusive. */
  readonly first: number;
  readonly end: number;
  /** Size of the tree, and of the newest checkpoint. */
  readonly size: number;
}

const FORMAT = 'quita-audit-export/2';
const MANIFEST = 'manifest.json';
const ENTRIES = 'entries.ndjson';
const CHECKPOINTS = 'checkpoints';
/** Bounds of all times. */
export const EVER = '9999-12-31T23:59:59.999Z' as Timestamp;
export const FIRST = '0001-01-01T00:00:00.000Z' as Timestamp;
const MINUTE_CHARS = '2026-11-28T04:00'.length;

/** Yields the last checkpoint of each minute. */
async function* onePerMinute(checkpoints: AsyncIterable<SignedCheckpoint>): AsyncGenerator<SignedCheckpoint> {
  let last: SignedCheckpoint | null = null;
  for await (const one of checkpoints) {
    if (last !== null && last.signedAt.slice(0, MINUTE_CHARS) !== one.signedAt.slice(0, MINUTE_CHARS)) yield last;
    last = one;
  }
  if (last !== null) yield last;
}

/** Begins an export, or returns the manifest of one that was begun with the same period. */
const begin = async (
  needs: ExportNeeds,
  folder: ExportFolder,
  { from, to, account }: ExportPeriod,
): Promise<Manifest | Rejection> => {
  const begun = await folder.read(MANIFEST);
  if (begun !== null) {
    const manifest = JSON.parse(begun) as Manifest;
    if (manifest.format !== FORMAT)
      return reject('invalid_filter', 'The folder holds an export in another format. Use an empty folder.');
    // Earlier builds stored the time of the newest checkpoint instead of null. Such an export continues if `to` is that time.
    const isSame = manifest.from === from && manifest.account === account && manifest.to === to;
    return isSame ? manifest : reject('invalid_filter', 'The folder holds an export of another period or account.');
  }
  if ((await folder.names()).some((name) => name !== CHECKPOINTS))
    return reject('invalid_filter', 'The folder is not empty, and holds no export.');
  const [tree, newest] = [await needs.auditTree.find(), await needs.auditTree.latest()];
  if (tree === null || newest === null) return reject('not_found', 'Nothing has been sealed yet.');
  const { origin } = tree;
  const { size } = newest;
  await folder.remove(CHECKPOINTS); // of a begin that was interrupted
  for await (const one of onePerMinute(needs.auditTree.checkpoints(from ?? FIRST, to ?? EVER)))
    if (one.size < size) await folder.write(`${CHECKPOINTS}/${one.size}`, one.note);
  await folder.write(`${CHECKPOINTS}/${size}`, newest.note);
  const first = from === null ? 0 : await indexAt(needs, size, from);
  const end = to === null ? size : Math.max(first, await indexAt(needs, size, to));
  const keys = noteKeysOf(await needs.auditKeys.list(), origin).map(vkeyOf);
  const manifest: Manifest = { format: FORMAT, origin, keys, from, to, account, first, end, size };
  await folder.write(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
};

/** Writes the tiles that the folder does not have. If the log lost events of the last tile, that tile can't be written. */
const writeTiles = async (needs: ExportNeeds, folder: ExportFolder, size: number): Promise<void> => {
  for (const tile of tilesOf(size)) {
    const path = tilePath(tile);
    if ((await folder.lengthOf(path)) === tile.width * HASH_BYTES) continue;
    try {
      await folder.write(path, await tileHashes(needs, tile));
    } catch (error) {
      if (!(error instanceof LogDiffers || error instanceof UnknownPosition)) throw error;
    }
  }
};

const HEAD = Buffer.from('{"entry":');
const lineOf = ({ index, event }: IndexedEntry): readonly Buffer[] => [
  HEAD,
  entryBytes(event),
  Buffer.from(`,"index":${index}}\n`),
];

const indexIn = (line: string): number => Number(/,"index":(\d+)\}$/.exec(line)?.[1]);

/**
 * Returns the indexes of the listed entries. The entries before and after the period prove its bounds. An export of one account omits them,
 * because they would disclose events of other accounts.
 */
const listedOf = ({ account, first, end, size }: Manifest): { readonly from: number; readonly to: number } =>
  account === null ? { from: Math.max(0, first - 1), to: Math.min(size, end + 1) } : { from: first, to: end };

/** Appends the entries that the file does not have yet. */
const writeEntries = async (
  needs: ExportNeeds,
  folder: ExportFolder,
  manifest: Manifest,
  { signal, onEntries }: LongReadOptions,
): Promise<void> => {
  const { account } = manifest;
  const { from, to } = listedOf(manifest);
  const file = await folder.open(ENTRIES);
  try {
    const next = file.last === null ? from : indexIn(file.last) + 1;
    for await (const page of entriesBetween(needs, next, to, signal)) {
      const listed = account === null ? page : page.filter(({ event }) => metadataIn(event)?.account === account);
      await file.append(Buffer.concat(listed.flatMap(lineOf)));
      onEntries((page.at(-1)?.index ?? next) + 1 - from, to - from);
    }
  } finally {
    await file.close();
  }
};

export interface LongReadOptions {
  readonly signal: AbortSignal;
  /** Called after each page of entries. */
  readonly onEntries: (done: number, all: number) => void;
}

/** Writes an export into the folder, or continues one. Returns its manifest. */
export const exportLog =
  (needs: ExportNeeds) =>
  async (folder: ExportFolder, period: ExportPeriod, options: LongReadOptions): Promise<Manifest | Rejection> => {
    const manifest = await begin(needs, folder, period);
    if (!('format' in manifest)) return manifest;
    await writeTiles(needs, folder, manifest.size);
    await writeEntries(needs, folder, manifest, options);
    return manifest;
  };
