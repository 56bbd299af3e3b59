// Amounts as a Brazilian reads them. Digits are cut out of the integer: no float ever holds a fraction of money.

/** Symbol shown to the payer; a currency without one shows its code. */
const SYMBOL: Readonly<Record<string, string>> = { BRL: 'R$', EUR: '€', USD: 'US$' };

/** Digits after the comma (ISO 4217; satoshi for BTC, the token's own decimals for USDT and USDC); otherwise 2. */
const FRACTION_DIGITS: Readonly<Record<string, number>> = { BTC: 8, USDT: 6, USDC: 6 };

/**
 * `amount` minor units (a safe integer ≥ 0, else RangeError) in pt-BR: `R$ 1.234.567,89`.
 * The gap is a plain space, so that a very long amount may break there and is never cut off.
 */
export const formatAmount = (amount: number, currency: string): string => {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not an amount of minor units: ${amount}`);
  const fractionDigits = FRACTION_DIGITS[currency] ?? 2;
  const digits = String(amount).padStart(fractionDigits + 1, '0');
  const whole = digits.slice(0, -fractionDigits).replace(/\B(?=(\d{3})+$)/g, '.');
  return `${SYMBOL[currency] ?? currency} ${whole},${digits.slice(-fractionDigits)}`;
};
