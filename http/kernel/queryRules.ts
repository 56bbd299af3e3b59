// Query parameters, by kind.
import type { QueryRule } from './route.ts';

export const wholeNumber = (minimum: number, maximum: number, fallback: number): QueryRule => ({
  description: `a whole number from ${minimum} to ${maximum}`,
  schema: { type: 'integer', minimum, maximum },
  parse: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  },
  fallback,
});

export const oneOf = (values: readonly string[]): QueryRule => ({
  description: `one of ${values.join(', ')}`,
  schema: { type: 'string', enum: values },
  parse: (text) => (values.includes(text) ? text : undefined),
});

export const matching = (description: string, parse: QueryRule['parse'], more: Partial<QueryRule> = {}): QueryRule => ({
  description,
  schema: { type: 'string', description },
  parse,
  ...more,
});

/** A currency code: `BRL`, `USDT`. */
export const currencyCode = matching(
  'a currency code of 3 to 8 letters and digits',
  (text) => (/^[A-Z0-9]{3,8}$/.test(text) ? text : undefined),
  { code: 'invalid_currency' },
);

/** A parameter of other lists, which this one refuses rather than ignores. */
export const neverAccepted = (instead: string): QueryRule =>
  matching(`left out: this list takes ${instead}`, () => undefined);
