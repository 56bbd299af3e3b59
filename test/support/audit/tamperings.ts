// Ways to tamper with an audit export. Each returns the entries at which it must be found.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tilePath, tilesOf } from '../../../application/audit/tiles.ts';
import { entryOf, type LogKey, logKeyOf, type SyntheticLog, writeSyntheticExport } from './syntheticExport.ts';

export const LOG_KEY = logKeyOf('the log');
const OLD_KEY = logKeyOf('the log before the rotation');
const FORGER = logKeyOf('somebody else');

/** The untouched log of the trials: several tiles, incomplete ones on two levels, and a key rotated at size 256. */
export const GENUINE: SyntheticLog = {
  size: 700,
  signedAt: [100, 256, 300, 511, 700],
  keyAt: (size) => (size <= 256 ? OLD_KEY : LOG_KEY),
  keys: [OLD_KEY, LOG_KEY],
};
export const TRUSTED: readonly string[] = GENUINE.keys.map(({ vkey }) => vkey);

/** Draws a number from 0 to `max`, inclusive. */
export type Draw = (max: number) => number;

interface Tampered {
  /** A fault must name one of these entries. If null, it must name a file. */
  readonly at: readonly [number, number] | null;
  /** A checkpoint that the auditor received earlier. */
  readonly held?: string;
}

const linesOf = (folder: string): string[] =>
  readFileSync(join(folder, 'entries.ndjson'), 'latin1').split('\n').slice(0, -1);
const writeLines = (folder: string, lines: readonly string[]): void =>
  writeFileSync(join(folder, 'entries.ndjson'), lines.map((line) => `${line}\n`).join(''), 'latin1');

/** Changes a random byte of a file. Returns its offset. */
const changeByte = (path: string, draw: Draw): number => {
  const bytes = readFileSync(path);
  const at = draw(bytes.length - 1);
  bytes[at] = (bytes[at] as number) ^ (1 + draw(254));
  writeFileSync(path, bytes);
  return at;
};

/** Rewrites the log with other entries from an index on, signed by `keyAt`. */
const rewrite = (
  folder: string,
  from: number,
  log: Pick<SyntheticLog, 'keyAt' | 'keys'>,
  size = GENUINE.size,
): void => {
  rmSync(folder, { recursive: true });
  const entry = (index: number) => (index < from ? entryOf(index) : entryOf(index + 1_000));
  const signedAt = [...GENUINE.signedAt.filter((one) => one < size), size];
  writeSyntheticExport(folder, { ...GENUINE, ...log, entry, size, signedAt });
};

/** Keeps a checkpoint of the untouched export beside the folder. */
const hold = (folder: string, size: number): string => {
  const held = `${folder}.checkpoint-${size}`;
  copyFileSync(join(folder, 'checkpoints', String(size)), held);
  return held;
};
const pickHeld = (draw: Draw): number => GENUINE.signedAt[draw(GENUINE.signedAt.length - 1)] as number;
const checkpointBefore = (index: number): number => GENUINE.signedAt.findLast((size) => size <= index) ?? 0;

export const TAMPERINGS: { readonly [what: string]: (folder: string, draw: Draw) => Tampered } = {
  'a byte of the entries': (folder, draw) => {
    const lengths = linesOf(folder).map((line) => line.length + 1);
    let at = changeByte(join(folder, 'entries.ndjson'), draw);
    const index = lengths.findIndex((length) => {
      at -= length;
      return at < 0;
    });
    return { at: [index, index + 1] }; // A changed newline joins two lines.
  },
  'an entry removed': (folder, draw) => {
    const lines = linesOf(folder);
    const index = draw(lines.length - 1);
    writeLines(folder, lines.toSpliced(index, 1));
    return { at: [index, index] };
  },
  'an entry removed, the others renumbered': (folder, draw) => {
    const entries = linesOf(folder).map((line) => line.replace(/\d+\}$/, ''));
    const index = draw(entries.length - 1);
    writeLines(
      folder,
      entries.toSpliced(index, 1).map((line, i) => `${line}${i}}`),
    );
    return { at: [index, index] };
  },
  'two entries swapped': (folder, draw) => {
    const lines = linesOf(folder);
    const [one, other] = [draw(lines.length - 2), lines.length - 1];
    const index = one + 1 + draw(other - one - 1);
    const swapped = lines.with(one, lines[index] as string).with(index, lines[one] as string);
    writeLines(folder, swapped);
    return { at: [one, one] };
  },
  'two entries swapped, with their numbers exchanged': (folder, draw) => {
    const entries = linesOf(folder).map((line) => line.replace(/\d+\}$/, ''));
    const one = draw(entries.length - 2);
    const swapped = entries.with(one, entries[one + 1] as string).with(one + 1, entries[one] as string);
    writeLines(
      folder,
      swapped.map((line, i) => `${line}${i}}`),
    );
    return { at: [one, one] };
  },
  'an entry added': (folder, draw) => {
    const lines = linesOf(folder);
    const index = draw(lines.length);
    writeLines(
      folder,
      lines.toSpliced(index, 0, `{"entry":${entryOf(5_000 + index)},"index":${draw(lines.length + 5)}}`),
    );
    return { at: [0, lines.length + 5] };
  },
  'an entry added, the others renumbered': (folder, draw) => {
    const entries = linesOf(folder).map((line) => line.replace(/\d+\}$/, ''));
    const index = draw(entries.length);
    const added = `{"entry":${entryOf(5_000)},"index":`;
    writeLines(
      folder,
      entries.toSpliced(index, 0, added).map((line, i) => `${line}${i}}`),
    );
    return { at: [index, index] };
  },
  'a byte of a tile': (folder, draw) => {
    const tiles = [...tilesOf(GENUINE.size)];
    const tile = tiles[draw(tiles.length - 1)] as (typeof tiles)[number];
    const hash = Math.floor(changeByte(join(folder, tilePath(tile)), draw) / 32);
    const leaves = 256 ** tile.level;
    const first = (tile.index * 256 + hash) * leaves;
    return { at: [first, first + leaves - 1] };
  },
  'a tile removed': (folder, draw) => {
    const tiles = [...tilesOf(GENUINE.size)];
    const { level, index, width } = tiles[draw(tiles.length - 1)] as (typeof tiles)[number];
    rmSync(join(folder, tilePath({ level, index, width })));
    return { at: [index * 256 ** (level + 1), GENUINE.size - 1] };
  },
  'a byte of a checkpoint': (folder, draw) => {
    changeByte(join(folder, 'checkpoints', String(pickHeld(draw))), draw);
    return { at: null };
  },
  'the tail rewritten and signed by another key': (folder, draw) => {
    const from = draw(GENUINE.size - 1);
    rewrite(folder, from, { ...GENUINE, keyAt: (size) => (size <= from ? GENUINE.keyAt(size) : FORGER) });
    return { at: [checkpointBefore(from), from] };
  },
  'the tail rewritten and signed by another key, which the manifest names': (folder, draw) => {
    const from = draw(GENUINE.size - 1);
    const keyAt = (size: number): LogKey => (size <= from ? GENUINE.keyAt(size) : FORGER);
    rewrite(folder, from, { keyAt, keys: [...GENUINE.keys, FORGER] });
    return { at: [checkpointBefore(from), from] };
  },
  'the tail rewritten and signed by the log’s own key, after a checkpoint was given away': (folder, draw) => {
    const size = pickHeld(draw);
    const held = hold(folder, size);
    const from = draw(size - 1);
    rewrite(folder, from, GENUINE);
    return { at: [0, from], held };
  },
  'the log restored to an older state, after a checkpoint was given away': (folder, draw) => {
    const held = hold(folder, GENUINE.size);
    const size = 1 + draw(GENUINE.size - 2);
    rewrite(folder, size, GENUINE, size);
    return { at: [size, GENUINE.size - 1], held };
  },
};
