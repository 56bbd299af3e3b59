// Instants as ISO 8601 UTC strings with milliseconds, which are readable in stored events and sort as text.

declare const timestamp: unique symbol;
/** `2026-11-21T13:00:00.000Z`. Always 24 characters, so that text order is time order. */
export type Timestamp = string & { readonly [timestamp]: true };

const SHAPE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
/** Last days of the months that have fewer than 31. */
const LAST_DAYS: { readonly [Month in string]?: string } = {
  '02': '29',
  '04': '30',
  '06': '30',
  '09': '30',
  '11': '30',
};

/** Throws RangeError outside the years 0 to 9999, because the text would no longer sort by time. */
export const fromMillis = (millis: number): Timestamp => {
  const text = new Date(millis).toISOString();
  if (text.length !== 24) throw new RangeError(`${text} has more than four digits of a year`);
  return text as Timestamp;
};
export const toMillis = (at: Timestamp): number => Date.parse(at);
export const isTimestamp = (value: unknown): value is Timestamp =>
  typeof value === 'string' && SHAPE.test(value) && isOfMonth(value, value.slice(5, 7), value.slice(8, 10));

/** Without a Date: formatting one again took 5 % of a rebuild on the last days of a month. */
const isOfMonth = (value: string, month: string, day: string): boolean =>
  day <= (LAST_DAYS[month] ?? '31') && (month !== '02' || day !== '29' || new Date(value).getUTCDate() === 29);
export const addMillis = (at: Timestamp, millis: number): Timestamp => fromMillis(toMillis(at) + millis);
export const addSeconds = (at: Timestamp, seconds: number): Timestamp => addMillis(at, seconds * 1000);
export const secondsBetween = (from: Timestamp, to: Timestamp): number =>
  Math.round((toMillis(to) - toMillis(from)) / 1000) + 0; // never -0
export const earlier = (a: Timestamp, b: Timestamp): Timestamp => (a < b ? a : b);
export const later = (a: Timestamp, b: Timestamp): Timestamp => (a > b ? a : b);

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
