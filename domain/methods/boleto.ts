// The numbers of a boleto: barcode of 44 digits, and the digitable line of 47 that a payer types (FEBRABAN, Banco Central
// Carta-Circular 2.926/2000).
import { epochDayOf } from '../kernel/civilDay.ts';
import type { Minor } from '../kernel/money.ts';

export interface BoletoTerms {
  /** 3 digits: the bank's code in the clearing (COMPE). */
  readonly bank: string;
  /** Civil day `yyyy-mm-dd`, 2000-07-03 or later. */
  readonly dueDate: string;
  /** Centavos, 1 to 9,999,999,999. */
  readonly amount: Minor;
  /** 25 digits, the bank's own. */
  readonly freeField: string;
}

const REAL = '9';
const AMOUNT_MAX = 9_999_999_999;
/** The factor counts days from 1997-10-07 on, and has been in use since it had four digits. */
const FACTOR_DAY_ZERO = epochDayOf('1997-10-07');
const FACTOR_MIN = 1_000;
const FACTORS = 9_000;

const BARCODE = /^[0-9]{3}9[0-9]{40}$/;

/** Weights 2, 1, 2, … from the right, digits of the products added up. */
const modulo10Digit = (digits: string): string => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const product = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
    sum += product > 9 ? product - 9 : product;
  }
  return String((10 - (sum % 10)) % 10);
};

/** Weights 2 to 9, again and again, from the right. It is never 0: what would be 0, 10 or 11 is 1. */
const modulo11Digit = (digits: string): string => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) sum += Number(digits[digits.length - 1 - i]) * (2 + (i % 8));
  const digit = 11 - (sum % 11);
  return digit >= 10 ? '1' : String(digit);
};

/**
 * The due factor of a civil day (`yyyy-mm-dd`), 1000 to 9999: 1000 on 2000-07-03, and from 1000 again on 2025-02-22 and every
 * 9,000 days after it. RangeError for earlier days, and for what is no day.
 */
export const dueFactor = (dueDate: string): number => {
  const days = epochDayOf(dueDate) - FACTOR_DAY_ZERO;
  if (days < FACTOR_MIN) throw new RangeError(`a boleto can't be due on ${dueDate}`);
  return FACTOR_MIN + ((days - FACTOR_MIN) % FACTORS);
};

/** The barcode, 44 digits: bank, currency, general check digit, due factor, amount, free field. RangeError outside the bounds. */
export const boletoBarcode = ({ bank, dueDate, amount, freeField }: BoletoTerms): string => {
  if (!/^[0-9]{3}$/.test(bank)) throw new RangeError(`not a bank code of 3 digits: ${bank}`);
  if (!/^[0-9]{25}$/.test(freeField)) throw new RangeError(`not a free field of 25 digits: ${freeField}`);
  if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
    throw new RangeError(`no boleto holds ${amount} centavos`);
  const front = bank + REAL;
  const back = dueFactor(dueDate) + String(amount).padStart(10, '0') + freeField;
  return front + modulo11Digit(front + back) + back;
};

/** 44 digits, in reais, with the right general check digit. */
export const isBoletoBarcode = (text: string): boolean =>
  BARCODE.test(text) && text[4] === modulo11Digit(text.slice(0, 4) + text.slice(5));

/** The line of a barcode, 47 digits without marks. RangeError when it is no barcode. */
export const lineOfBarcode = (barcode: string): string => {
  if (!isBoletoBarcode(barcode)) throw new RangeError(`not the barcode of a boleto: ${barcode}`);
  const fields = [barcode.slice(0, 4) + barcode.slice(19, 24), barcode.slice(24, 34), barcode.slice(34, 44)];
  return fields.map((field) => field + modulo10Digit(field)).join('') + barcode.slice(4, 19);
};
