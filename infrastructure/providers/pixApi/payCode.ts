// Checks the BR Code that an institution sends, before a payer sees it.
import type { Minor } from '../../../domain/kernel/money.ts';
import {
  amountText,
  buildDynamicBrCode,
  CHECKSUM_HEAD,
  crc16,
  isUrlField,
  PIX_GUI,
} from '../../../domain/pix/brCode.ts';

const LENGTH_MAX = 512;
const CHECKSUM_LENGTH = 4;

/** Returns the fields of EMV tag-length-value text, or null if it is malformed. Lengths count characters, not UTF-16 units. */
const fieldsOf = (text: string): ReadonlyMap<string, string> | null => {
  const characters = [...text];
  const fields = new Map<string, string>();
  for (let i = 0; i < characters.length; ) {
    const head = characters.slice(i, i + 4).join('');
    if (!/^\d{4}$/.test(head)) return null;
    const length = Number(head.slice(2));
    const value = characters.slice(i + 4, i + 4 + length);
    if (length === 0 || value.length < length || fields.has(head.slice(0, 2))) return null;
    fields.set(head.slice(0, 2), value.join(''));
    i += 4 + length;
  }
  return fields;
};

const isPixAccount = (id: string, value: string): boolean => {
  if (id < '26' || id > '51') return false;
  const account = fieldsOf(value);
  return account?.get('00')?.toLowerCase() === PIX_GUI && account.has('25');
};

/**
 * Returns whether the text is a well-formed code of a Pix charge with a right checksum. Its amount is optional, because the payer's bank
 * reads it from the charge; if present, it must be this one.
 */
const isPayCode = (code: string, amount: Minor): boolean => {
  if (code.length > LENGTH_MAX || !code.isWellFormed()) return false;
  const body = code.slice(0, -CHECKSUM_LENGTH);
  if (!body.endsWith(CHECKSUM_HEAD) || crc16(body) !== code.slice(-CHECKSUM_LENGTH).toUpperCase()) return false;
  const fields = fieldsOf(code);
  if (fields === null || fields.get('00') !== '01' || fields.get('53') !== '986') return false;
  const stated = fields.get('54');
  return (
    (stated === undefined || stated === amountText(amount)) &&
    [...fields].some(([id, value]) => isPixAccount(id, value))
  );
};

interface CodeParts {
  readonly code: string | null;
  /** Where the institution hosts the charge. */
  readonly location: string | null;
  readonly amount: Minor;
  readonly merchantName: string;
}

/** The code names the receiver's city, which the payer's bank ignores in favor of the charge at `location`. */
const CITY = 'BRASIL';

/** Returns the institution's code, or one built from the location. Returns null if there is neither, or the code is wrong. */
export const payCodeOf = ({ code, location, amount, merchantName }: CodeParts): string | null => {
  if (code !== null) return isPayCode(code, amount) ? code : null;
  const url = location?.replace(/^https?:\/\//i, '') ?? '';
  return url !== '' && isUrlField(url) ? buildDynamicBrCode({ url, merchantName, merchantCity: CITY, amount }) : null;
};
