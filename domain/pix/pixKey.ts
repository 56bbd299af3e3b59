// Pix keys: how an account is addressed in the central bank's directory (pix.md, Ids).
import { isStrictTaxId } from './taxId.ts';

export type PixKeyKind = 'tax_id' | 'phone' | 'email' | 'random';

/** `+55`, an area code without zeros and 8 or 9 digits. */
const PHONE = /^\+55[1-9]{2}[0-9]{8,9}$/;
const EMAIL_LENGTH_MAX = 77;
/** The directory's own rule for e-mail keys, and at least one dot in the domain: lower case only. */
const EMAIL =
  /^[a-z0-9.!#$'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What kind of key it is, written exactly as the directory holds it: a bare CPF or CNPJ, no mask; null: none. */
export const pixKeyKind = (text: string): PixKeyKind | null => {
  if (isStrictTaxId(text)) return 'tax_id';
  if (PHONE.test(text)) return 'phone';
  if (UUID.test(text)) return 'random';
  return text.length <= EMAIL_LENGTH_MAX && EMAIL.test(text) ? 'email' : null;
};
export const isPixKey = (text: string): boolean => pixKeyKind(text) !== null;
