// Amounts as people read them. Every page, mail, PDF and line of text that shows an amount in a sentence gets it here.
import { CURRENCY_DECIMALS } from '../charge/methods.ts';
import { type DecimalMarks, decimalText } from '../kernel/money.ts';

/** The languages that readers are addressed in. */
export const LANGUAGES = ['pt', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

const MARKS: { readonly [L in Language]: DecimalMarks } = {
  pt: { point: ',', group: '.' },
  en: { point: '.', group: ',' },
};
/** A currency without a symbol shows its code. */
const SYMBOL: { readonly [currency: string]: string } = { BRL: 'R$', EUR: '€', USD: 'US$' };
/** Of a currency that is not in CURRENCY_DECIMALS. */
const DECIMALS_DEFAULT = 2;

/**
 * Returns `amount` (minor units) in the language of its reader: `R$ 1.234,56` in Portuguese, `R$ 1,234.56` in English, with
 * a minus before the symbol of a debt. Throws RangeError unless the amount is a safe integer. The gap is a plain space: programs and
 * tests find the text, and a very long amount may break there instead of being cut off.
 */
export const formatAmount = (amount: number, currency: string, language: Language): string => {
  const text = decimalText(Math.abs(amount), CURRENCY_DECIMALS[currency] ?? DECIMALS_DEFAULT, MARKS[language]);
  return `${amount < 0 ? '-' : ''}${SYMBOL[currency] ?? currency} ${text}`;
};

/** Returns the exact decimal text of a coin, such as `0.00012345`, with the decimal mark of the reader's language. */
export const formatCoins = (exact: string, language: Language): string => exact.replace('.', MARKS[language].point);
