// Base58 as Bitcoin made it, and with its checksum (Bitcoin Core base58.cpp; TRON and Solana write addresses with it).
import { createHash } from 'node:crypto';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;

/** The bytes as one number to the base 58, every leading zero byte as one `1`. */
export const base58 = (bytes: Uint8Array): string => {
  const firstSet = bytes.findIndex((byte) => byte !== 0);
  const zeros = firstSet === -1 ? bytes.length : firstSet;
  let text = '';
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n)
    text = ALPHABET[Number(rest % 58n)] + text;
  return '1'.repeat(zeros) + text;
};

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Base58 of the bytes and the first 4 bytes of their double SHA-256. */
export const base58Check = (bytes: Uint8Array): string =>
  base58(Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, CHECKSUM_BYTES)]));
