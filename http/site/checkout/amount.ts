// Amounts as a Brazilian reads them.
import { CURRENCY_DECIMALS } from '../../../domain/charge/methods.ts';
import { decimalText } from '../../../domain/kernel/money.ts';

/** Symbol shown to the payer; a currency without one shows its code. */
const SYMBOL: Readonly<Record<string, string>> = { BRL: 'R$', EUR: '€', USD: 'US$' };

const PT_BR = { point: ',', group: '.' };
/** Of a currency that nothing is known of. */
const DECIMALS_DEFAULT = 2;

/**
 * `amount` minor units (a safe integer ≥ 0, else RangeError) in pt-BR: `R$ 1.234.567,89`.
 * The gap is a plain space, so that a very long amount may break there and is never cut off.
 */
export const formatAmount = (amount: number, currency: string): string => {
  if (amount < 0) throw new RangeError(`not an amount of minor units: ${amount}`);
  const text = decimalText(amount, CURRENCY_DECIMALS[currency] ?? DECIMALS_DEFAULT, PT_BR);
  return `${SYMBOL[currency] ?? currency} ${text}`;
};
