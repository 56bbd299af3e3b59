// Decoders of addresses for the tests. They use other arithmetic than the encoders, so that no mistake is in both.

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** Returns the bytes of a base58 text, multiplied byte by byte. */
export const base58Bytes = (text: string): Uint8Array => {
  const bytes: number[] = [];
  for (const character of text) {
    let carry = BASE58.indexOf(character);
    if (carry < 0) throw new RangeError(`not a character of base58: ${character}`);
    for (let i = 0; i < bytes.length; i++) {
      carry += bytes[i]! * 58;
      bytes[i] = carry & 255;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 255);
  }
  const ones = /^1*/.exec(text)![0].length;
  return Uint8Array.from([...Array<number>(ones).fill(0), ...bytes.reverse()]);
};

/** Returns the data of a lower-case bech32 text as 5-bit words, or null if the checksum is wrong. */
export const bech32Words = (text: string): { readonly prefix: string; readonly words: readonly number[] } | null => {
  const split = text.lastIndexOf('1');
  const prefix = text.slice(0, split);
  const words = Array.from(text.slice(split + 1), (character) => BECH32.indexOf(character));
  if (words.includes(-1)) throw new RangeError(`not bech32: ${text}`);
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...words];
  return remainder(all) === 1 ? { prefix, words: words.slice(0, -6) } : null;
};

/** Returns the remainder of BIP-173, computed with integers of any size. */
const remainder = (words: readonly number[]): number => {
  const terms = [0x3b6a57b2n, 0x26508e6dn, 0x1ea119fan, 0x3d4233ddn, 0x2a1462b3n];
  let rest = 1n;
  for (const word of words) {
    const top = rest / 2n ** 25n;
    rest = ((rest % 2n ** 25n) * 32n) ^ BigInt(word);
    for (const [bit, term] of terms.entries()) if ((top / 2n ** BigInt(bit)) % 2n === 1n) rest ^= term;
  }
  return Number(rest);
};

/** Returns the bytes of 5-bit words, or null if the rest is not fewer than five zero bits (BIP-173). */
export const bytesOfWords = (words: readonly number[]): Uint8Array | null => {
  const bits = words.map((word) => word.toString(2).padStart(5, '0')).join('');
  const length = Math.floor(bits.length / 8);
  const left = bits.slice(length * 8);
  if (left.length > 4 || left.includes('1')) return null;
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2));
};
