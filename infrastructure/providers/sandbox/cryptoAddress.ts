// Crypto addresses that every wallet accepts as well-formed but that have no key: they are built from bytes, not from a public key.
import { createHash } from 'node:crypto';
import { base58, bech32, createBase58check } from '@scure/base';

interface CryptoAddress {
  readonly address: string;
  readonly network: 'BITCOIN' | 'TRON' | 'SOLANA';
}

const BYTES = 32;
const HASH_BYTES = 20;
/** Version byte of a TRON main net address. */
const TRON_VERSION = 0x41;

/** Base58 with the first 4 bytes of the double SHA-256 as its checksum. */
export const base58Check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** Returns the address of a witness program of version 0 (BIP-173): 20 bytes (P2WPKH) or 32 (P2WSH). Throws RangeError on others. */
export const segwitV0Address = (prefix: 'bc' | 'tb', program: Uint8Array): string => {
  if (program.length !== 20 && program.length !== 32)
    throw new RangeError(`no witness program: ${program.length} bytes`);
  return bech32.encode(prefix, [0, ...bech32.toWords(program)]);
};

/**
 * Returns an address for 32 bytes: BTC as P2WPKH (`bc1q…`, BIP-173) and USDT on TRON (`T…`) use the first 20, USDC on Solana all.
 * Throws RangeError for another number of bytes or another currency.
 */
export const cryptoAddress = (currency: string, bytes: Uint8Array): CryptoAddress => {
  if (bytes.length !== BYTES) throw new RangeError(`an address is made of ${BYTES} bytes, not ${bytes.length}`);
  const hash = bytes.subarray(0, HASH_BYTES);
  switch (currency) {
    case 'BTC':
      return { address: segwitV0Address('bc', hash), network: 'BITCOIN' };
    case 'USDT':
      return { address: base58Check.encode(Uint8Array.of(TRON_VERSION, ...hash)), network: 'TRON' };
    case 'USDC':
      return { address: base58.encode(bytes), network: 'SOLANA' };
    default:
      throw new RangeError(`no network for ${currency}`);
  }
};
