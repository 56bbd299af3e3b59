// Bech32 and the segwit addresses of version 0 (BIP-173).

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR: readonly number[] = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_WORDS = 6;

/** The remainder of a BCH code over 5-bit words, 30 bits. */
const polymod = (words: readonly number[]): number => {
  let rest = 1;
  for (const word of words) {
    const top = rest >>> 25;
    rest = ((rest & 0x1ffffff) << 5) ^ word;
    GENERATOR.forEach((term, bit) => {
      if ((top >>> bit) & 1) rest ^= term;
    });
  }
  return rest;
};

const expanded = (prefix: string): readonly number[] => {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  return [...codes.map((code) => code >>> 5), 0, ...codes.map((code) => code & 31)];
};

/** `prefix` (lower case), `1`, the 5-bit words and their checksum of 6 characters. */
export const bech32 = (prefix: string, words: readonly number[]): string => {
  const rest = polymod([...expanded(prefix), ...words, ...Array<number>(CHECKSUM_WORDS).fill(0)]) ^ 1;
  const checksum = Array.from({ length: CHECKSUM_WORDS }, (_, i) => (rest >>> (5 * (CHECKSUM_WORDS - 1 - i))) & 31);
  return `${prefix}1${[...words, ...checksum].map((word) => ALPHABET[word]).join('')}`;
};

/** The bits of the bytes in words of 5, the last filled up with zeros. */
const wordsOf = (bytes: Uint8Array): readonly number[] => {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((word) => Number.parseInt(word.padEnd(5, '0'), 2));
};

/** The address of a witness program of version 0: 20 bytes (P2WPKH) or 32 (P2WSH). RangeError for other lengths. */
export const segwitV0Address = (prefix: 'bc' | 'tb', program: Uint8Array): string => {
  if (program.length !== 20 && program.length !== 32)
    throw new RangeError(`no witness program: ${program.length} bytes`);
  return bech32(prefix, [0, ...wordsOf(program)]);
};
