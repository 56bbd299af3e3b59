// What building and parsing a BR code share: the fixed values and the rules of single fields (pix.md, BR Code).

export const BR_CODE_MAX = 512;
export const PIX_GUI = 'br.gov.bcb.pix';
export const NAME_MAX = 25;
export const CITY_MAX = 15;
/** Digits and point of field 54. */
export const AMOUNT_TEXT_MAX = 13;
/** Reference label (62-05) of a code without a txid of its own; the only one of a dynamic code. */
export const NO_TXID = '***';
/** Id and length of the checksum, which covers these too. */
export const CHECKSUM_HEAD = '6304';

const ADDRESS_MAX = 77;
const VISIBLE_ASCII = /^[!-~]+$/;
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;

const isAddress = (text: string): boolean => text.length <= ADDRESS_MAX && VISIBLE_ASCII.test(text);

/** Pix key of a static code: 1 to 77 visible ASCII characters. Whether it is registered only the DICT knows. */
export const isKeyField = (key: string): boolean => isAddress(key);

/** Location of a dynamic code: 1 to 77 visible ASCII characters, host first: no scheme. */
export const isUrlField = (url: string): boolean => isAddress(url) && !SCHEME.test(url);
