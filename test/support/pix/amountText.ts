// Parses amounts in Pix texts.
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';

// 15 digits stay below 2^53.
const AMOUNT = /^([0-9]{1,13})(?:\.([0-9]{1,2}))?$/;

/**
 * Returns the centavos of a text like `123.45`. Also accepts `100` and `0.9`, which some issuers write.
 * Returns null for anything else: a sign, more than two decimals, a comma, spaces, more than 13 digits before the point.
 */
export const parseAmountText = (text: string): Minor | null => {
  const match = AMOUNT.exec(text);
  return match === null ? null : toMinor(Number(match[1]! + (match[2] ?? '').padEnd(2, '0')));
};
