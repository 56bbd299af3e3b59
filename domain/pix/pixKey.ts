// Pix keys, which address accounts in the central bank's directory (pix.md, Ids).
import { isStrictTaxId } from './taxId.ts';

export type PixKeyKind = 'tax_id' | 'phone' | 'email' | 'random';

/** `+55`, an area code without zeros and 8 or 9 digits. */
const PHONE = /^\+55[1-9]{2}[0-9]{8,9}$/;
const EMAIL_LENGTH_MAX = 77;
/** The directory's rule for email keys: lower case, with at least one dot in the domain. */
const EMAIL =
  /^[a-z0-9.!#$'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the kind of a Pix key in the directory's format (CPF and CNPJ without punctuation), or null if the text is no key. */
export const pixKeyKind = (text: string): PixKeyKind | null => {
  if (isStrictTaxId(text)) return 'tax_id';
  if (PHONE.test(text)) return 'phone';
  if (UUID.test(text)) return 'random';
  return text.length <= EMAIL_LENGTH_MAX && EMAIL.test(text) ? 'email' : null;
};
export const isPixKey = (text: string): boolean => pixKeyKind(text) !== null;
