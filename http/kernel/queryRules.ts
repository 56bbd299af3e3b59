// Query parameters, by kind.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import type { QueryRule } from './route.ts';

/** A parameter that `parse` reads from its text; `expects` ends the sentence "must be …". */
export const matching = <Value>(
  description: string,
  expects: string,
  parse: (text: string) => Value | undefined,
  code: ErrorCode = 'invalid_filter',
): QueryRule<Value, undefined> => ({
  description,
  expects,
  schema: { type: 'string' },
  parse,
  fallback: undefined,
  code,
});

export const wholeNumber = (
  description: string,
  minimum: number,
  maximum: number,
  fallback: number,
): QueryRule<number, number> => ({
  description,
  expects: `a whole number from ${minimum} to ${maximum}`,
  schema: { type: 'integer', minimum, maximum, default: fallback },
  parse: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  },
  fallback,
  code: 'invalid_filter',
});

export const oneOf = <const Value extends string>(
  description: string,
  values: readonly Value[],
): QueryRule<Value, undefined> => ({
  ...matching(description, `one of ${values.join(', ')}`, (text) => values.find((value) => value === text)),
  schema: { type: 'string', enum: values },
});

/** A currency code: `BRL`, `USDT`. */
export const currencyCode = (description: string): QueryRule<string, undefined> => ({
  ...matching(
    description,
    'a currency code of 3 to 8 letters and digits',
    (text) => (/^[A-Z0-9]{3,8}$/.test(text) ? text : undefined),
    'invalid_currency',
  ),
  schema: { type: 'string', pattern: '^[A-Z0-9]{3,8}$' },
});

/** A parameter of other lists, which this one refuses rather than ignores. */
export const neverAccepted = (instead: string): QueryRule<never, undefined> =>
  matching<never>(`Refused: this list takes ${instead}.`, `left out: this list takes ${instead}`, () => undefined);
