// Civil days as `yyyy-mm-dd` (rules T1, P5). Only this file decides which Brazilian day an instant belongs to and which days are the
// last n business days.
import { DAY_MS, fromMillis, HOUR_MS, isTimestamp, MINUTE_MS, type Timestamp, toMillis } from './time.ts';

export type CivilZone = 'America/Sao_Paulo' | 'Europe/Lisbon';

const rulesOf = (timeZone: CivilZone) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });

/** São Paulo has had no daylight saving time since 2019, but had it in most earlier years. Lisbon has it in summer. */
const RULES: { readonly [Zone in CivilZone]: Intl.DateTimeFormat } = {
  'America/Sao_Paulo': rulesOf('America/Sao_Paulo'),
  'Europe/Lisbon': rulesOf('Europe/Lisbon'),
};
/** Before it, the civil day may be in a year before 1, which four digits can't express. */
const FIRST = '0001-01-02';
/** Since then the zone's offset is -2 or -3 hours. Before, it was local solar time. */
const WHOLE_HOURS_SINCE = '1914-01-02';
/** The next day ends in the year 10000 by UTC, which four digits can't express. */
const LAST_WHOLE = '9999-12-30';
/** From this UTC hour on, the civil day equals the UTC day, with or without daylight saving time. */
const BEGUN_AT_HOUR = '03';

/** Returns whether the text is a day of the calendar as `yyyy-mm-dd`. */
export const isCivilDay = (text: string): boolean => isTimestamp(`${text}T00:00:00.000Z`);

/** Returns the civil day in America/Sao_Paulo as `yyyy-mm-dd`. Throws RangeError before 0001-01-02. */
export const saoPauloDay = (at: Timestamp): string => {
  if (at < WHOLE_HOURS_SINCE) return askZone(at, 'America/Sao_Paulo');
  return at.slice(11, 13) >= BEGUN_AT_HOUR ? at.slice(0, 10) : dayOfHour(at);
};

/** The latest UTC hour looked up, which lies within one civil day. Only three hours of each night need a lookup. */
let lastHour = '';
let lastDay = '';

const dayOfHour = (at: Timestamp): string => {
  const hour = at.slice(0, 13);
  if (hour !== lastHour) {
    lastDay = askZone(at, 'America/Sao_Paulo');
    lastHour = hour;
  }
  return lastDay;
};

const SAO_PAULO_HOUR = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Sao_Paulo',
  hour: '2-digit',
  hourCycle: 'h23',
});
let offsetHour = '';
let offset = 0;

/** Returns an instant's civil date and time in São Paulo with its offset in hours. Exact since 1914. */
export const saoPauloTime = (at: Timestamp): { readonly local: string; readonly offset: number } => {
  const hour = at.slice(0, 13);
  if (hour !== offsetHour) {
    offset = ((Number(SAO_PAULO_HOUR.format(toMillis(at))) - Number(at.slice(11, 13)) - 24) % 24) + 0;
    offsetHour = hour;
  }
  return { local: fromMillis(toMillis(at) + offset * HOUR_MS).slice(0, -1), offset };
};

/** Looks up the zone's rules, which takes some microseconds. */
const askZone = (at: Timestamp, zone: CivilZone): string => {
  if (at < FIRST) throw new RangeError(`no civil days before ${FIRST}: ${at}`);
  const parts = new Map(RULES[zone].formatToParts(toMillis(at)).map(({ type, value }) => [type, value]));
  return `${parts.get('year')!.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
};

/** Returns the days from 1970-01-01 to `day` (`yyyy-mm-dd`), negative before it. Throws RangeError if the day doesn't exist. */
export const epochDayOf = (day: string): number => {
  const midnight = `${day}T00:00:00.000Z`;
  if (!isTimestamp(midnight)) throw new RangeError(`not a civil day: ${day}`);
  return toMillis(midnight) / DAY_MS;
};

/**
 * Returns the last millisecond of the civil day that is `days` after the day of `at` in the zone. A day may have 23 or 25 hours.
 * Exact since 1914. Throws RangeError beyond the year 9999.
 */
export const endOfCivilDay = (at: Timestamp, days: number, zone: CivilZone): Timestamp => {
  const day = dayOfEpoch(epochDayOf(askZone(at, zone)) + days);
  const noon = toMillis(`${day}T12:00:00.000Z` as Timestamp);
  // Both zones are within three hours of UTC, so the civil day contains its UTC noon and has ended 24 hours later.
  let [last, over] = [noon, noon + 24 * HOUR_MS];
  while (over - last > MINUTE_MS) {
    const middle = last + Math.floor((over - last) / MINUTE_MS / 2) * MINUTE_MS;
    if (askZone(fromMillis(middle), zone) > day) over = middle;
    else last = middle;
  }
  return fromMillis(over - 1);
};

/**
 * Returns the first and last millisecond of a civil day (`yyyy-mm-dd`), or null if the day doesn't exist, is before 1914-01-02 or ends
 * after the year 9999 in UTC.
 */
export const civilDayBounds = (
  day: string,
  zone: CivilZone,
): { readonly from: Timestamp; readonly to: Timestamp } | null => {
  const noon = `${day}T12:00:00.000Z`;
  if (!isTimestamp(noon) || day < WHOLE_HOURS_SINCE || day > LAST_WHOLE) return null;
  const before = endOfCivilDay(noon, -1, zone);
  return { from: fromMillis(toMillis(before) + 1), to: endOfCivilDay(noon, 0, zone) };
};

const dayOfEpoch = (epochDay: number): string => new Date(epochDay * DAY_MS).toISOString().slice(0, 10);

/** Returns the last `count` business days up to and including `today`. Every civil day counts as a business day (T1). */
export const lastBusinessDays = (today: string, count: number): readonly string[] => {
  const last = epochDayOf(today);
  return Array.from({ length: count }, (_, n) => dayOfEpoch(last - count + 1 + n));
};
