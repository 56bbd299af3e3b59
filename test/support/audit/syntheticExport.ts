// Writes audit exports of made-up events, of any size, as `audit export` writes them.
import { createPrivateKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import canonicalize from 'canonicalize';
import { checkpointText } from '../../../application/audit/checkpoint.ts';
import { HASH_BYTES, leafHash } from '../../../application/audit/merkleTree.ts';
import { noteKeyOf, publicBytes, signed, vkeyOf, writeNote } from '../../../application/audit/signedNote.ts';
import { EMPTY_EDGE, edgeRoot, extended, type Tile, tilePath, TILE_WIDTH } from '../../../application/audit/tiles.ts';

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

/** Returns the bytes of a made-up entry: payments of four events each, of two accounts, as long as real ones. */
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
