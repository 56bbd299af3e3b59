// Formats amounts for people. Every page, mail, PDF and sentence that shows an amount formats it here.
import { CURRENCY_DECIMALS } from '../charge/methods.ts';
import { type DecimalMarks, decimalText } from '../kernel/money.ts';

/** Languages of pages, mails and documents. */
export const LANGUAGES = ['pt', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

const MARKS: { readonly [L in Language]: DecimalMarks } = {
  pt: { point: ',', group: '.' },
  en: { point: '.', group: ',' },
};
/** Other currencies are shown by their code. */
const SYMBOL: { readonly [currency: string]: string } = { BRL: 'R$', EUR: '€', USD: 'US$' };
/** Decimal places of currencies that are not in CURRENCY_DECIMALS. */
const DECIMALS_DEFAULT = 2;

/**
 * Formats `amount` (minor units) for a reader: `R$ 1.234,56` in Portuguese, `R$ 1,234.56` in English, with a minus before the symbol of
 * a negative amount. Uses a plain space, so that programs find the text and a very long amount can wrap. Throws RangeError unless the
 * amount is a safe integer.
 */
export const formatAmount = (amount: number, currency: string, language: Language): string => {
  const text = decimalText(Math.abs(amount), CURRENCY_DECIMALS[currency] ?? DECIMALS_DEFAULT, MARKS[language]);
  return `${amount < 0 ? '-' : ''}${SYMBOL[currency] ?? currency} ${text}`;
};

/** Formats the exact decimal text of a coin, such as `0.00012345`, with the decimal mark of the language. */
export const formatCoins = (exact: string, language: Language): string => exact.replace('.', MARKS[language].point);

/** Groups have three digits and one mark, and don't start with a zero. The decimal mark differs from theirs. */
const AMOUNT = /^(?:R\$\s*)?(\d+|[1-9]\d{0,2}(?:\.\d{3})+(?=,|$)|[1-9]\d{0,2}(?:,\d{3})+(?=\.|$))(?:[.,](\d{1,2}))?$/;

/** Reads `1.234,56`, `1,234.56`, `R$ 1234,5` or `12` in centavos; null for anything else, such as `0,500` or `1.234,567`. */
export const centavosOf = (text: string): number | null => {
  const [, whole = '', cents = ''] = AMOUNT.exec(text) ?? [];
  if (whole === '') return null;
  const amount = Number(whole.replaceAll(/[.,]/g, '')) * 100 + Number(cents.padEnd(2, '0'));
  return Number.isSafeInteger(amount) && amount > 0 ? amount : null;
};
