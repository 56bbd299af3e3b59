// Reads answers of institutions without trusting their types. A value of the wrong type reads as absent.
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';

export type Obj = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is Obj =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether a value is absent. Some institutions send null instead of leaving a field out. */
export const isMissing = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Returns the value at a path of object keys, or undefined. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), value);

/** U+0000 and lone surrogates are replaced: PostgreSQL can't hold them, and a name with one would stop a read model. */
export const textAt = (value: unknown, ...path: readonly string[]): string | null => {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found.toWellFormed().replaceAll('\0', '\ufffd') : null;
};

/** Most characters of a reason and of a name that are kept: events, which record them, stay below 32 kB. */
export const REASON_MAX = 300;
export const NAME_MAX = 200;

/** Returns the text, cut to `max` code points if it has more, with an ellipsis as the last one. */
export const shortened = (text: string, max: number): string => {
  // A code point has at most two UTF-16 units. So a long text is not split as a whole.
  const points = [...text.slice(0, 2 * (max + 1))];
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : text;
};

/** Returns the text at a path, shortened to `max` code points, or null. */
export const shortTextAt = (max: number, value: unknown, ...path: readonly string[]): string | null => {
  const found = textAt(value, ...path);
  return found === null ? null : shortened(found, max);
};

/** Ids of the standard have at most 35 characters and documents fewer, and indexes bound their length. */
export const ID_MAX = 64;

/** Returns the id or document at a key. One that is too long reads as absent, because a part of it would be another one. */
export const idAt = (value: unknown, key: string): string | null => {
  const found = textAt(value, key);
  return found === null || found.length > ID_MAX ? null : found;
};

const AMOUNT = /^\d{1,10}\.\d{2}$/;

/** Reads `"37.00"` as 3700 without a float, or returns null. */
export const amountOf = (value: unknown): Minor | null =>
  typeof value === 'string' && AMOUNT.test(value) ? toMinor(Number(value.replace('.', ''))) : null;

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Year 1 stands for "none" in .NET and Go. The upper limit leaves room for a lifetime. */
const EARLIEST = Date.parse('0002-01-01T00:00:00Z');
const LATEST = Date.parse('3000-01-01T00:00:00Z');

/** Reads a time of RFC 3339, which always names its zone, or returns null. */
export const timeOf = (value: unknown): Timestamp | null => {
  if (typeof value !== 'string' || !DATE_TIME.test(value)) return null;
  const millis = Date.parse(value);
  return millis >= EARLIEST && millis < LATEST ? fromMillis(millis) : null;
};

/** Reads a count that some institutions send as text, or returns null. */
export const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
};

/** Returns a list as it is, one object as a list of it, null for an absent value, and undefined for anything else. */
export const listOf = (value: unknown): readonly unknown[] | null | undefined => {
  if (isMissing(value)) return null;
  if (Array.isArray(value)) return value;
  return isObject(value) ? [value] : undefined;
};

export const parseJson = (text: string | null): unknown => {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};
