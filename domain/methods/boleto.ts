// Boleto numbers: the barcode of 44 digits and the digitable line of 47 that a payer types (FEBRABAN, Banco Central Carta-Circular
// 2.926/2000).
import { epochDayOf } from '../kernel/civilDay.ts';
import type { Minor } from '../kernel/money.ts';

export interface BoletoTerms {
  /** 3 digits: the bank's clearing code (COMPE). */
  readonly bank: string;
  /** Civil day `yyyy-mm-dd`, 2000-07-03 or later. */
  readonly dueDate: string;
  /** Centavos, 1 to 9,999,999,999. */
  readonly amount: Minor;
  /** 25 digits that the bank defines. */
  readonly freeField: string;
}

const REAL = '9';
const AMOUNT_MAX = 9_999_999_999;
/** The factor counts days since 1997-10-07 and always has four digits. */
const FACTOR_DAY_ZERO = epochDayOf('1997-10-07');
const FACTOR_MIN = 1_000;
const FACTORS = 9_000;

const BARCODE = /^[0-9]{3}9[0-9]{40}$/;

/** Weights 2, 1, 2, … from the right; the digits of the products are added. */
const modulo10Digit = (digits: string): string => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const product = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
    sum += product > 9 ? product - 9 : product;
  }
  return String((10 - (sum % 10)) % 10);
};

/** Weights 2 to 9, repeated, from the right. Results of 0, 10 and 11 become 1, so it is never 0. */
const modulo11Digit = (digits: string): string => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) sum += Number(digits[digits.length - 1 - i]) * (2 + (i % 8));
  const digit = 11 - (sum % 11);
  return digit >= 10 ? '1' : String(digit);
};

/**
 * Returns the due factor of a civil day (`yyyy-mm-dd`), 1000 to 9999. It is 1000 on 2000-07-03, restarts at 1000 on 2025-02-22, and
 * every 9,000 days after that. Throws RangeError for earlier or invalid days.
 */
export const dueFactor = (dueDate: string): number => {
  const days = epochDayOf(dueDate) - FACTOR_DAY_ZERO;
  if (days < FACTOR_MIN) throw new RangeError(`boletos can't be due on ${dueDate}`);
  return FACTOR_MIN + ((days - FACTOR_MIN) % FACTORS);
};

/** Returns the barcode of 44 digits: bank, currency, check digit, due factor, amount, free field. Throws RangeError out of bounds. */
export const boletoBarcode = ({ bank, dueDate, amount, freeField }: BoletoTerms): string => {
  if (!/^[0-9]{3}$/.test(bank)) throw new RangeError(`not a bank code of 3 digits: ${bank}`);
  if (!/^[0-9]{25}$/.test(freeField)) throw new RangeError(`not a free field of 25 digits: ${freeField}`);
  if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
    throw new RangeError(`a boleto can't hold ${amount} centavos`);
  const front = bank + REAL;
  const back = dueFactor(dueDate) + String(amount).padStart(10, '0') + freeField;
  return front + modulo11Digit(front + back) + back;
};

/** Returns whether the text is a barcode of 44 digits in reais with a valid check digit. */
export const isBoletoBarcode = (text: string): boolean =>
  BARCODE.test(text) && text[4] === modulo11Digit(text.slice(0, 4) + text.slice(5));

/** Returns the digitable line of a barcode, 47 digits without punctuation. Throws RangeError for invalid barcodes. */
export const lineOfBarcode = (barcode: string): string => {
  if (!isBoletoBarcode(barcode)) throw new RangeError(`not the barcode of a boleto: ${barcode}`);
  const fields = [barcode.slice(0, 4) + barcode.slice(19, 24), barcode.slice(24, 34), barcode.slice(34, 44)];
  return fields.map((field) => field + modulo10Digit(field)).join('') + barcode.slice(4, 19);
};
