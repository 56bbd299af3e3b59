// The checksum of a BR code: CRC-16/CCITT-FALSE (EMV QR code specification; pix.md).

const POLYNOMIAL = 0x1021;
const INITIAL = 0xffff;

const remainderOf = (byte: number): number => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 0x8000 ? (remainder << 1) ^ POLYNOMIAL : remainder << 1;
  return remainder & 0xffff;
};
const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => remainderOf(byte));

const step = (crc: number, byte: number): number => ((crc << 8) & 0xffff) ^ REMAINDERS[(crc >>> 8) ^ byte]!;

/** The bytes of one code point beyond ASCII in UTF-8, most significant first. */
const utf8 = (point: number): readonly number[] => {
  const tail = (shift: number): number => 0x80 | ((point >>> shift) & 0x3f);
  if (point < 0x800) return [0xc0 | (point >>> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >>> 12), tail(6), tail(0)];
  return [0xf0 | (point >>> 18), tail(12), tail(6), tail(0)];
};

/**
 * CRC-16/CCITT-FALSE (polynomial 1021, initial FFFF, nothing reflected) over the UTF-8 bytes of `text`, as 4 upper-case
 * hexadecimal digits with leading zeros. An unpaired surrogate counts as U+FFFD, as in every UTF-8 encoder.
 */
export const crc16 = (text: string): string => {
  const wellFormed = text.toWellFormed();
  let crc = INITIAL;
  for (let at = 0; at < wellFormed.length; at++) {
    const point = wellFormed.codePointAt(at) as number;
    if (point < 0x80) crc = step(crc, point);
    else for (const byte of utf8(point)) crc = step(crc, byte);
    if (point > 0xffff) at++; // the second half of a pair
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
};
