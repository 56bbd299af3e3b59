// Amounts as operators read them.
import { CURRENCY_DECIMALS } from '../../domain/charge/methods.ts';
import { decimalText } from '../../domain/kernel/decimalText.ts';

/** `12.34`, with as many decimals as the currency has minor units; of an unknown currency the minor units. */
export const amountText = (minor: number, currency: string): string =>
  decimalText(minor, CURRENCY_DECIMALS[currency] ?? 0);
