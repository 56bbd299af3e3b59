// Cryptocurrency amounts as text. As floats, small amounts would print as 1e-8.
import { decimalText, type Minor } from '../kernel/money.ts';

/**
 * Formats a non-negative amount of minor units in whole coins with all `decimals` digits (CURRENCY_DECIMALS, at least 1). For BTC (8), 1
 * is `0.00000001` and 150000000 is `1.50000000`. Throws RangeError for negative amounts or other decimals.
 */
export const cryptoAmount = (amount: Minor, decimals: number): string => {
  if (amount < 0) throw new RangeError(`not a payable amount: ${amount}`);
  if (!Number.isInteger(decimals) || decimals < 1) throw new RangeError(`not a number of decimals: ${decimals}`);
  return decimalText(amount, decimals);
};
