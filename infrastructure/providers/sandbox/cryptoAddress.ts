// Addresses that every wallet takes as well-formed and that nobody has a key to: made from bytes, not from a public key.
import { base58, base58Check } from './base58.ts';
import { segwitV0Address } from './bech32.ts';

export interface CryptoAddress {
  readonly address: string;
  readonly network: 'BITCOIN' | 'TRON' | 'SOLANA';
}

const BYTES = 32;
const HASH_BYTES = 20;
/** Version byte of a TRON main net address. */
const TRON_VERSION = 0x41;

/**
 * The address of 32 bytes: BTC as P2WPKH (`bc1q…`, BIP-173) and USDT on TRON (`T…`) from the first 20 of them, USDC on Solana
 * from all. RangeError for another number of bytes or another currency.
 */
export const cryptoAddress = (currency: string, bytes: Uint8Array): CryptoAddress => {
  if (bytes.length !== BYTES) throw new RangeError(`an address is made of ${BYTES} bytes, not ${bytes.length}`);
  const hash = bytes.subarray(0, HASH_BYTES);
  switch (currency) {
    case 'BTC':
      return { address: segwitV0Address('bc', hash), network: 'BITCOIN' };
    case 'USDT':
      return { address: base58Check(Uint8Array.of(TRON_VERSION, ...hash)), network: 'TRON' };
    case 'USDC':
      return { address: base58(bytes), network: 'SOLANA' };
    default:
      throw new RangeError(`no network for ${currency}`);
  }
};
