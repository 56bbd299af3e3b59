// BR Codes of Pix, the text behind the QR image and of copy-and-paste: how they are written (pix.md, BR Code).

import type { Minor } from '../kernel/money.ts';
import { amountText } from './amountText.ts';
import { foldToAscii } from './asciiText.ts';
import { crc16 } from './crc16.ts';
import { encodeTlv } from './tlv.ts';

export const PIX_GUI = 'br.gov.bcb.pix';
export const NAME_MAX = 25;
export const CITY_MAX = 15;
/** Stands where folding leaves nothing of a name or city, since the field can't be empty. */
export const EMPTY_TEXT = 'N';
/** Digits and point of field 54. */
export const AMOUNT_TEXT_MAX = 13;
/** Reference label (62-05) of a dynamic code, and of a code without a txid of its own. */
export const NO_TXID = '***';
/** Id and length of the checksum, which covers these too. */
export const CHECKSUM_HEAD = '6304';

const ADDRESS_MAX = 77;
const VISIBLE_ASCII = /^[!-~]+$/;
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;

/** Location of a dynamic code: 1 to 77 visible ASCII characters, host first: no scheme. */
export const isUrlField = (url: string): boolean =>
  url.length <= ADDRESS_MAX && VISIBLE_ASCII.test(url) && !SCHEME.test(url);

interface Receiver {
  /** Folded to printable ASCII and cut to 25 characters; `N` when nothing is left, since the field can't be empty. */
  readonly merchantName: string;
  /** Folded to printable ASCII and cut to 15 characters; `N` when nothing is left, since the field can't be empty. */
  readonly merchantCity: string;
  /** 1 to 999,999,999,999 centavos; without it the payer's bank takes the charge's. */
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

/** `head` is what stands before 52: the fields 00, 01 and 26. The longest code has 236 of the permitted 512 characters. */
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

/** A code that pays one charge once, hosted at `url`. Throws RangeError when url or amount can't stand in a code. */
export const buildDynamicBrCode = (parts: DynamicBrCodeParts): string => {
  if (!isUrlField(parts.url)) throw new RangeError(`not a location of a BR code: ${parts.url}`);
  const account = encodeTlv('00', PIX_GUI) + encodeTlv('25', parts.url);
  return assemble(encodeTlv('00', '01') + encodeTlv('01', '12') + encodeTlv('26', account), parts);
};
