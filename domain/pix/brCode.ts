// Builds Pix BR Codes, the text of the QR image and of copy-and-paste (pix.md, BR Code).
import { decimalText, type Minor } from '../kernel/money.ts';

export const PIX_GUI = 'br.gov.bcb.pix';
export const NAME_MAX = 25;
export const CITY_MAX = 15;
/** Replaces a name or city that is empty after folding, because the field can't be empty. */
export const EMPTY_TEXT = 'N';
/** Maximum length of field 54, including the point. */
export const AMOUNT_TEXT_MAX = 13;
/** Reference label (62-05) of a dynamic code, and of a code without its own txid. */
export const NO_TXID = '***';
/** Id and length of the checksum field, which the checksum covers. */
export const CHECKSUM_HEAD = '6304';

const ADDRESS_MAX = 77;
const VISIBLE_ASCII = /^[!-~]+$/;
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;

/** Returns whether the text is a location: 1 to 77 visible ASCII characters, starting with the host, without scheme. */
export const isUrlField = (url: string): boolean =>
  url.length <= ADDRESS_MAX && VISIBLE_ASCII.test(url) && !SCHEME.test(url);

interface Receiver {
  /** Folded to printable ASCII and cut to 25 characters; `N` if nothing remains. */
  readonly merchantName: string;
  /** Folded to printable ASCII and cut to 15 characters; `N` if nothing remains. */
  readonly merchantCity: string;
  /** 1 to 999,999,999,999 centavos. If omitted, the payer's bank uses the charge's amount. */
  readonly amount?: Minor;
}

interface DynamicBrCodeParts extends Receiver {
  /** Location of the charge without scheme, 1 to 77 visible ASCII characters. */
  readonly url: string;
}

const amountField = (amount: Minor | undefined): string => {
  if (amount === undefined) return '';
  const text = amountText(amount);
  if (amount < 1 || text.length > AMOUNT_TEXT_MAX) throw new RangeError(`not an amount of a BR code: ${text}`);
  return encodeTlv('54', text);
};

const withChecksum = (body: string): string => body + CHECKSUM_HEAD + crc16(body + CHECKSUM_HEAD);

/** `head` holds the fields before 52: 00, 01 and 26. The longest code has 236 of the permitted 512 characters. */
const assemble = (head: string, { merchantName, merchantCity, amount }: Receiver): string =>
  withChecksum(
    head +
      encodeTlv('52', '0000') +
      encodeTlv('53', '986') +
      amountField(amount) +
      encodeTlv('58', 'BR') +
      encodeTlv('59', foldToAscii(merchantName, NAME_MAX) || EMPTY_TEXT) +
      encodeTlv('60', foldToAscii(merchantCity, CITY_MAX) || EMPTY_TEXT) +
      encodeTlv('62', encodeTlv('05', NO_TXID)),
  );

/** Returns a code that pays one charge once, hosted at `url`. Throws RangeError for an invalid url or amount. */
export const buildDynamicBrCode = (parts: DynamicBrCodeParts): string => {
  if (!isUrlField(parts.url)) throw new RangeError(`not a location of a BR code: ${parts.url}`);
  const account = encodeTlv('00', PIX_GUI) + encodeTlv('25', parts.url);
  return assemble(encodeTlv('00', '01') + encodeTlv('01', '12') + encodeTlv('26', account), parts);
};

// --- Fields: EMV tag-length-value text, a 2-digit id, a 2-digit length and a value. Lengths count characters (code points), not bytes ---

const TLV_VALUE_MAX = 99;
const TWO_DIGITS = /^[0-9]{2}$/;

/** Returns the number of code points; a surrogate pair counts as one. */
const charactersOf = (text: string): number => {
  let characters = text.length;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) characters--;
  return characters;
};

/** Encodes one field. Throws RangeError if the id is not two digits, or the value is not 1 to 99 characters. */
export const encodeTlv = (id: string, value: string): string => {
  const length = charactersOf(value);
  if (!TWO_DIGITS.test(id) || length < 1 || length > TLV_VALUE_MAX)
    throw new RangeError(`TLV field ${id} with ${length} characters`);
  return id + String(length).padStart(2, '0') + value;
};

// --- The checksum: CRC-16/CCITT-FALSE (EMV QR code specification; pix.md) ---

const POLYNOMIAL = 0x1021;
const INITIAL = 0xffff;

const remainderOf = (byte: number): number => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 0x8000 ? (remainder << 1) ^ POLYNOMIAL : remainder << 1;
  return remainder & 0xffff;
};
const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => remainderOf(byte));

const step = (crc: number, byte: number): number => ((crc << 8) & 0xffff) ^ REMAINDERS[(crc >>> 8) ^ byte]!;

/** Returns the UTF-8 bytes of one code point beyond ASCII, most significant first. */
const utf8 = (point: number): readonly number[] => {
  const tail = (shift: number): number => 0x80 | ((point >>> shift) & 0x3f);
  if (point < 0x800) return [0xc0 | (point >>> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >>> 12), tail(6), tail(0)];
  return [0xf0 | (point >>> 18), tail(12), tail(6), tail(0)];
};

/**
 * Returns the CRC-16/CCITT-FALSE (polynomial 1021, initial FFFF, not reflected) of the UTF-8 bytes of `text` as 4 upper-case hexadecimal
 * digits. Like every UTF-8 encoder, it treats an unpaired surrogate as U+FFFD.
 */
export const crc16 = (text: string): string => {
  const wellFormed = text.toWellFormed();
  let crc = INITIAL;
  for (let at = 0; at < wellFormed.length; at++) {
    const point = wellFormed.codePointAt(at) as number;
    if (point < 0x80) crc = step(crc, point);
    else for (const byte of utf8(point)) crc = step(crc, byte);
    if (point > 0xffff) at++; // skips the second half of a pair
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
};

// --- Values ---

/**
 * Formats an amount for Pix: `12345` centavos as `123.45`. Uses text arithmetic only, so that no amount becomes a float. Throws
 * RangeError for negative amounts.
 */
export const amountText = (amount: Minor): string => {
  if (amount < 0) throw new RangeError(`a Pix amount can't be negative: ${amount}`);
  return decimalText(amount, 2);
};

const COMBINING_MARKS = /\p{M}/gu;
const NOT_PRINTABLE_ASCII = /[^ -~]/gu;

/**
 * Folds `text` to printable ASCII, because some bank apps reject accents. Strips accents, replaces other characters with spaces, collapses
 * spaces, cuts to `max` characters and trims. The result may be empty. Idempotent.
 */
export const foldToAscii = (text: string, max: number): string =>
  text
    .normalize('NFKD')
    .replace(COMBINING_MARKS, '')
    .replace(NOT_PRINTABLE_ASCII, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, max)
    .trimEnd();
