// Amounts as Pix writes them: reais, a point, two decimals. Text arithmetic only, so no amount passes through a float.
import { decimalText, type Minor } from '../kernel/money.ts';

/** `12345` centavos as `123.45`. Throws RangeError for a negative amount, which Pix can't write. */
export const amountText = (amount: Minor): string => {
  if (amount < 0) throw new RangeError(`a Pix amount is not negative: ${amount}`);
  return decimalText(amount, 2);
};
