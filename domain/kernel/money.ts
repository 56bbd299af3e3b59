// Money is a branded integer of minor units, never a float. Values that are not exact integers throw.

declare const minor: unique symbol;
/** An amount in the smallest unit of its currency, such as centavos. A safe integer; sums may be negative. */
export type Minor = number & { readonly [minor]: true };

export const toMinor = (value: number): Minor => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an integer number of minor units: ${value}`);
  return (value === 0 ? 0 : value) as Minor; // JSON can't hold -0
};

export const ZERO = toMinor(0);
export const add = (a: Minor, b: Minor): Minor => toMinor(a + b);
export const subtract = (a: Minor, b: Minor): Minor => toMinor(a - b);
export const negate = (a: Minor): Minor => toMinor(-a);
export const most = (a: Minor, b: Minor): Minor => (a > b ? a : b);
export const least = (a: Minor, b: Minor): Minor => (a < b ? a : b);

/**
 * Returns `bps` basis points (1/100 of a percent, 0 to 10,000) of a non-negative amount, rounded half up (rule M1).
 * Exact for amounts up to 99,999,999,999, because the product stays below 2^53.
 */
export const basisPointsOf = (amount: Minor, bps: number): Minor => {
  if (amount < 0 || bps < 0 || bps > 10_000 || !Number.isInteger(bps)) throw new RangeError(`${bps} bps of ${amount}`);
  return toMinor(Math.floor((amount * bps + 5_000) / 10_000));
};

/** Bounds of a payment's amount (rule I4). */
export const AMOUNT_MIN = 1;
export const AMOUNT_MAX = 99_999_999_999;

// --- The only conversion from minor units to text. It cuts digits out of the integer, so no amount becomes a float ---

export interface DecimalMarks {
  /** Separates the fraction. */
  readonly point: string;
  /** Separates thousands. */
  readonly group: string;
}

const PLAIN: DecimalMarks = { point: '.', group: '' };

/**
 * Formats `-1234567` with 2 decimals as `-12345.67`, or `-12.345,67` with the marks of pt-BR. With 0 decimals there is no point.
 * Throws RangeError unless `minor` is a safe integer and `decimals` an integer of at least 0.
 */
export const decimalText = (minor: number, decimals: number, { point, group }: DecimalMarks = PLAIN): string => {
  if (!Number.isSafeInteger(minor)) throw new RangeError(`not an amount of minor units: ${minor}`);
  if (!Number.isInteger(decimals) || decimals < 0) throw new RangeError(`not a number of decimals: ${decimals}`);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = digits.slice(digits.length - decimals);
  return `${minor < 0 ? '-' : ''}${whole}${decimals === 0 ? '' : point}${fraction}`;
};
