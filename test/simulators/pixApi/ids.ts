// Ids that the institution and the payers' bank make. All are fictitious participants.
import { randomBytes } from 'node:crypto';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { makeEndToEndId, makeReturnId } from '../../../domain/pix/ids.ts';

export const INSTITUTION_ISPB = '99999007';
const PAYERS_ISPB = '99999008';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv0123456789wxyz01';
/** Returns `length` letters and digits. */
export const letters = (length: number): string =>
  Array.from(randomBytes(length), (byte) => ALPHABET[byte & 63]).join('');

const suffix = (): string => letters(11);

export const receivedId = (at: number): string =>
  makeEndToEndId({ ispb: PAYERS_ISPB, at: fromMillis(at), suffix: suffix() });
export const sentId = (at: number): string =>
  makeEndToEndId({ ispb: INSTITUTION_ISPB, at: fromMillis(at), suffix: suffix() });
export const returnIdAt = (at: number): string =>
  makeReturnId({ ispb: INSTITUTION_ISPB, at: fromMillis(at), suffix: suffix() });
