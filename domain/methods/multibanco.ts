// Multibanco references: two check digits bind entity, number and amount, so that a terminal refuses a mistyped one (SIBS).
import type { Minor } from '../kernel/money.ts';

export interface MultibancoTerms {
  /** 5 digits: who collects. */
  readonly entity: string;
  /** 7 digits: sub-entity and number of the payment. */
  readonly subEntityAndNumber: string;
  /** Euro cents, 1 to 99,999,999. */
  readonly amount: Minor;
}

const AMOUNT_MAX = 99_999_999;
const ENTITY = /^[0-9]{5}$/;
const NUMBER = /^[0-9]{7}$/;

const isPayable = (amount: number): boolean => Number.isInteger(amount) && amount >= 1 && amount <= AMOUNT_MAX;

/** 98 − (N·100 mod 97) as two digits, 02 to 98, N being the 20 digits: digit by digit, for N is larger than a safe integer. */
const checkDigits = (digits: string): string => {
  let rest = 0;
  for (const digit of `${digits}00`) rest = (rest * 10 + Number(digit)) % 97;
  return String(98 - rest).padStart(2, '0');
};

/** The reference, 9 digits: the 7 given, and the check digits over entity, number and amount. RangeError outside the bounds. */
export const multibancoReference = ({ entity, subEntityAndNumber, amount }: MultibancoTerms): string => {
  if (!ENTITY.test(entity)) throw new RangeError(`not an entity of 5 digits: ${entity}`);
  if (!NUMBER.test(subEntityAndNumber)) throw new RangeError(`not a number of 7 digits: ${subEntityAndNumber}`);
  if (!isPayable(amount)) throw new RangeError(`no Multibanco reference holds ${amount} cents`);
  return subEntityAndNumber + checkDigits(entity + subEntityAndNumber + String(amount).padStart(8, '0'));
};
