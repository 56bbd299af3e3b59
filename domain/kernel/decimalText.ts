// The one way from minor units to text. Digits are cut out of the integer: no amount of money is ever a fraction in a float.

export interface DecimalMarks {
  /** Before the fraction. */
  readonly point: string;
  /** Between thousands. */
  readonly group: string;
}

const PLAIN: DecimalMarks = { point: '.', group: '' };

/**
 * `-1234567` with 2 decimals is `-12345.67`, or `-12.345,67` with the marks of pt-BR; with 0 decimals there is no point.
 * RangeError unless `minor` is a safe integer and `decimals` a whole number of 0 or more.
 */
export const decimalText = (minor: number, decimals: number, { point, group }: DecimalMarks = PLAIN): string => {
  if (!Number.isSafeInteger(minor)) throw new RangeError(`not an amount of minor units: ${minor}`);
  if (!Number.isInteger(decimals) || decimals < 0) throw new RangeError(`not a number of decimals: ${decimals}`);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = digits.slice(digits.length - decimals);
  return `${minor < 0 ? '-' : ''}${whole}${decimals === 0 ? '' : point}${fraction}`;
};
