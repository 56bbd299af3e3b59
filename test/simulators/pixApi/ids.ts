// Makes the ids of the institution and of the payers’ bank, both fictitious participants.
import { randomBytes } from 'node:crypto';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { makeEndToEndId, makeReturnId } from '../../../domain/pix/ids.ts';

export const INSTITUTION_ISPB = '99999007';
const PAYERS_ISPB = '99999008';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv0123456789wxyz01';
/** Random bytes are generated in bulk. One call per id would take most of the time of 100,000 payments. */
const POOL_BYTES = 65_536;
let pool = Buffer.alloc(0);
let used = 0;

/** Returns `length` random letters and digits. */
export const letters = (length: number): string => {
  if (used + length > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  let text = '';
  for (const byte of pool.subarray(used, used + length)) text += ALPHABET[byte & 63];
  used += length;
  return text;
};

const suffix = (): string => letters(11);

export const receivedId = (at: number): string =>
  makeEndToEndId({ ispb: PAYERS_ISPB, at: fromMillis(at), suffix: suffix() });
export const sentId = (at: number): string =>
  makeEndToEndId({ ispb: INSTITUTION_ISPB, at: fromMillis(at), suffix: suffix() });
export const returnIdAt = (at: number): string =>
  makeReturnId({ ispb: INSTITUTION_ISPB, at: fromMillis(at), suffix: suffix() });
