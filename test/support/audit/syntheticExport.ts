// Writes audit exports of synthetic events, of any size, in the form of `audit export`.
import { createPrivateKey, hash, type KeyObject } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import canonicalize from 'canonicalize';
import { checkpointText } from '../../../application/audit/checkpoint.ts';
import { HASH_BYTES, leafHash, type TreeHead } from '../../../application/audit/merkleTree.ts';
import { noteKeyOf, publicBytes, signed, vkeyOf, writeNote } from '../../../application/audit/signedNote.ts';
import { EMPTY_EDGE, edgeRoot, extended, TILE_WIDTH, tilePath } from '../../../application/audit/tiles.ts';

export const ORIGIN = 'pay.example.com/audit/log';

/** A log's signing key. */
export interface LogKey {
  readonly privateKey: KeyObject;
  readonly vkey: string;
}
/** Returns the same key for the same seed. */
export const logKeyOf = (seed: string): LogKey => {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), hash('sha256', seed, 'buffer')]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  return { privateKey, vkey: vkeyOf(noteKeyOf(ORIGIN, publicBytes(privateKey))) };
};

/** Returns the bytes of a synthetic entry: payments of four events each, of two accounts, as long as real ones. */
export const entryOf = (index: number): Buffer => {
  const payment = hash('sha256', `payment ${Math.floor(index / 4)}`, 'hex').slice(0, 26);
  const account = index % 8 < 4 ? 'a1'.repeat(13) : 'b2'.repeat(13);
  const type = ['ChargeCreated', 'ChargePixIssued', 'TransactionSettled', 'TransactionFundsReleased'][index % 4];
  const at = new Date(Date.UTC(2026, 9, 1) + index * 100).toISOString();
  const entry = {
    data: { amount: 100 + index, at, currency: 'BRL', description: 'Ação nº 1, “à vista”', filler: 'x'.repeat(240) },
    id: `${hash('sha256', `event ${index}`, 'hex').slice(0, 32)}`,
    metadata: {
      account,
      actor: 'key:0123456789abcdef',
      causationId: `req_${index}`,
      correlationId: payment,
      mode: 'live',
      requestId: `req_${index}`,
      v: 1,
    },
    recordedAt: at,
    revision: index % 4,
    stream: `payment-${payment}`,
    type,
  };
  return Buffer.from(canonicalize(entry) as string);
};

const write = (path: string, content: Buffer | string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

/** Returns the signed checkpoint of a tree. */
export const noteOf = ({ size, root }: TreeHead, { privateKey }: LogKey): string => {
  const text = checkpointText({ origin: ORIGIN, size, root });
  return writeNote({ text, signatures: [signed(text, ORIGIN, privateKey)] });
};

export interface SyntheticLog {
  readonly size: number;
  /** Period of the export. Default: everything. */
  readonly first?: number;
  readonly end?: number;
  /** Sizes at which a checkpoint was signed, ascending. The last one is `size`. */
  readonly signedAt: readonly number[];
  readonly keyAt: (size: number) => LogKey;
  /** The keys named in the manifest. */
  readonly keys: readonly LogKey[];
  readonly account?: string;
  /** Default: the entries of `entryOf`. */
  readonly entry?: (index: number) => Buffer;
}

export const accountOf = (entry: Buffer): string => JSON.parse(entry.toString()).metadata.account;

/** Writes an export into a folder that must not exist. Returns the checkpoints' paths by size. */
export const writeSyntheticExport = (folder: string, log: SyntheticLog): void => {
  const { size, signedAt, keyAt, keys, account = null, entry = entryOf, first = 0, end = size } = log;
  const manifest = { format: 'quita-audit-export/2', origin: ORIGIN, keys: keys.map(({ vkey }) => vkey) };
  const timeOf = (index: number): string => JSON.parse(entry(index).toString()).recordedAt;
  const to = end < size ? timeOf(end) : '2026-11-01T03:00:00.000Z';
  const period = { from: first > 0 ? timeOf(first) : null, to, account };
  const around = account === null ? 1 : 0;
  write(join(folder, 'manifest.json'), `${JSON.stringify({ ...manifest, ...period, first, end, size }, null, 2)}\n`);
  write(join(folder, 'entries.ndjson'), '');
  let edge = EMPTY_EDGE;
  let [leaves, lines]: [Buffer[], string[]] = [[], []];
  for (let index = 0; index < size; index++) {
    const bytes = entry(index);
    leaves.push(leafHash(bytes));
    const isListed =
      index >= first - around && index < end + around && (account === null || accountOf(bytes) === account);
    if (isListed) lines.push(`{"entry":${bytes},"index":${index}}\n`);
    const isSigned = signedAt.includes(index + 1);
    if (!isSigned && leaves.length < 16 * TILE_WIDTH && index + 1 < size) continue;
    const { edge: grown, full } = extended(edge, Buffer.concat(leaves));
    for (const { hashes, ...tile } of full) write(join(folder, tilePath({ ...tile, width: TILE_WIDTH })), hashes);
    if (isSigned) {
      const head = { size: index + 1, root: edgeRoot(grown) };
      write(join(folder, 'checkpoints', String(head.size)), noteOf(head, keyAt(head.size)));
    }
    appendFileSync(join(folder, 'entries.ndjson'), lines.join(''));
    [edge, leaves, lines] = [grown, [], []];
  }
  edge.partial.forEach((hashes, level) => {
    const tile = { level, index: Math.floor(size / TILE_WIDTH ** (level + 1)), width: hashes.length / HASH_BYTES };
    if (tile.width > 0) write(join(folder, tilePath(tile)), hashes);
  });
};
