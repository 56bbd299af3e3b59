// The kinds of query parameters.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { DAY_MS, fromMillis, isTimestamp, type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import type { QueryRule } from './route.ts';

/** A parameter whose text `parse` reads. `expects` completes the message "must be …". */
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

/** A parameter of other lists that this list rejects instead of ignoring it. */
export const neverAccepted = (instead: string): QueryRule<never, undefined> =>
  matching<never>(`Not supported: use \`${instead}\`.`, `omitted: use ${instead}`, () => undefined);

// --- Instants in ISO 8601: `2026-11-21`, `2026-11-21T13:00Z`, `2026-11-21T10:00:00.123-03:00`. Without an offset they are in UTC, like all
// timestamps of the API ---

// An unescaped `+` arrives as a space.
const SHAPE = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+\- ]\d\d(?::?\d\d)?)?)?$/;
/** All objects are created between these instants. */
const FIRST_MS = Date.parse('0001-01-02T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-30T23:59:59.999Z');

interface Instant {
  readonly millis: number;
  /** Milliseconds until the last one that the text covers: for a date, the rest of its day; otherwise 0. */
  readonly lasts: number;
  /** Whether the text has a fraction of a millisecond. */
  readonly isBetween: boolean;
}

const offsetMinutes = (zone: string | undefined): number | null => {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
};

const parseInstant = (text: string): Instant | null => {
  const [, date, time, seconds = '00', fraction = '', zone] = SHAPE.exec(text) ?? [];
  const offset = offsetMinutes(zone);
  if (date === undefined || offset === null) return null;
  const local = `${date}T${time ?? '00:00'}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  if (!isTimestamp(local)) return null;
  const millis = toMillis(local) - offset * 60_000;
  return { millis, lasts: time === undefined ? DAY_MS - 1 : 0, isBetween: /[1-9]/.test(fraction.slice(3)) };
};

const within = (millis: number): Timestamp => fromMillis(Math.min(Math.max(millis, FIRST_MS), LAST_MS));

/** Returns the first millisecond at or after the instant, or undefined if the text is not an instant. */
export const lowerBound = (text: string): Timestamp | undefined => {
  const instant = parseInstant(text);
  return instant === null ? undefined : within(instant.millis + (instant.isBetween ? 1 : 0));
};
/** Returns the last millisecond at or before the instant, for a date the last of its UTC day. Undefined if it is not an instant. */
export const upperBound = (text: string): Timestamp | undefined => {
  const instant = parseInstant(text);
  return instant === null ? undefined : within(instant.millis + instant.lasts);
};

export const EXPECTED = 'an ISO 8601 date or date-time';
/** A parameter for the earliest instant of a list, inclusive. */
export const notBefore = (description: string) => matching(description, EXPECTED, lowerBound);
/** A parameter for the latest instant of a list, inclusive. A date covers its whole day in UTC. */
export const notAfter = (description: string) => matching(description, EXPECTED, upperBound);

// --- Lists that accept date-times only, as exclusive bounds (Q9) ---

const instantOnly = (text: string): Instant | null => {
  const instant = parseInstant(text);
  return instant === null || instant.lasts > 0 ? null : instant;
};
/** Returns the last millisecond at or before a date-time, or undefined if the text is not one. A date alone is not enough. */
export const instantOf = (text: string): Timestamp | undefined => {
  const instant = instantOnly(text);
  return instant === null ? undefined : within(instant.millis);
};
/** Returns the first millisecond at or after a date-time, or undefined if the text is not one. A date alone is not enough. */
const nextInstantOf = (text: string): Timestamp | undefined => {
  const instant = instantOnly(text);
  return instant === null ? undefined : within(instant.millis + (instant.isBetween ? 1 : 0));
};

const EXPECTED_INSTANT = 'an ISO 8601 date-time';
/** A parameter for items created strictly after a date-time. */
export const instantAfter = (description: string) => matching(description, EXPECTED_INSTANT, instantOf);
/** A parameter for items created strictly before a date-time. */
export const instantBefore = (description: string) => matching(description, EXPECTED_INSTANT, nextInstantOf);
