// Amounts of coins as text. A coin's smallest unit is so small that a float would write it as 1e-8.
import { decimalText, type Minor } from '../kernel/money.ts';

/**
 * An amount of minor units, zero or more, in whole coins, with all `decimals` digits (CURRENCY_DECIMALS, 1 or more) after the
 * point: 1 of BTC (8) is `0.00000001`, 150000000 is `1.50000000`. RangeError for a negative amount or other decimals.
 */
export const cryptoAmount = (amount: Minor, decimals: number): string => {
  if (amount < 0) throw new RangeError(`not an amount to be paid: ${amount}`);
  if (!Number.isInteger(decimals) || decimals < 1) throw new RangeError(`not a number of decimals: ${decimals}`);
  return decimalText(amount, decimals);
};
