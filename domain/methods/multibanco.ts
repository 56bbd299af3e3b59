// Multibanco references: two check digits cover entity, number and amount, so that a terminal rejects typing errors (SIBS).
import type { Minor } from '../kernel/money.ts';

export interface MultibancoTerms {
  /** 5 digits that identify the collecting entity. */
  readonly entity: string;
  /** 7 digits: the sub-entity and the number of the payment. */
  readonly subEntityAndNumber: string;
  /** Euro cents, 1 to 99,999,999. */
  readonly amount: Minor;
}

const AMOUNT_MAX = 99_999_999;
const ENTITY = /^[0-9]{5}$/;
const NUMBER = /^[0-9]{7}$/;

const isPayable = (amount: number): boolean => Number.isInteger(amount) && amount >= 1 && amount <= AMOUNT_MAX;

/** Returns 98 − (N·100 mod 97) as two digits, 02 to 98. N has 20 digits, more than a safe integer, so it is reduced digit by digit. */
const checkDigits = (digits: string): string => {
  let rest = 0;
  for (const digit of `${digits}00`) rest = (rest * 10 + Number(digit)) % 97;
  return String(98 - rest).padStart(2, '0');
};

/** Returns the reference of 9 digits: the 7 given ones and the check digits. Throws RangeError out of bounds. */
export const multibancoReference = ({ entity, subEntityAndNumber, amount }: MultibancoTerms): string => {
  if (!ENTITY.test(entity)) throw new RangeError(`not an entity of 5 digits: ${entity}`);
  if (!NUMBER.test(subEntityAndNumber)) throw new RangeError(`not a number of 7 digits: ${subEntityAndNumber}`);
  if (!isPayable(amount)) throw new RangeError(`a Multibanco reference can't hold ${amount} cents`);
  return subEntityAndNumber + checkDigits(entity + subEntityAndNumber + String(amount).padStart(8, '0'));
};
