// Civil days, as `yyyy-mm-dd` (rules T1, P5). One function decides which day of Brazil an instant belongs to, and one which days
// "the last n business days" are.
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

/** São Paulo has had no daylight saving time since 2019, and had it in most years before. Lisbon has it in summer. */
const RULES: { readonly [Zone in CivilZone]: Intl.DateTimeFormat } = {
  'America/Sao_Paulo': rulesOf('America/Sao_Paulo'),
  'Europe/Lisbon': rulesOf('Europe/Lisbon'),
};
/** Before it, the day may lie in the year before 1, which four digits can't write. */
const FIRST = '0001-01-02';
/** Since then the zone is two or three hours behind UTC. Before, it kept the sun's time. */
const WHOLE_HOURS_SINCE = '1914-01-02';
/** From this hour of UTC on, the day of UTC has begun there too, with or without daylight saving time. */
const BEGUN_AT_HOUR = '03';

/** Returns the civil day of America/Sao_Paulo at `at`: `yyyy-mm-dd`. RangeError before 2 January of the year 1. */
export const saoPauloDay = (at: Timestamp): string => {
  if (at < WHOLE_HOURS_SINCE) return askZone(at, 'America/Sao_Paulo');
  return at.slice(11, 13) >= BEGUN_AT_HOUR ? at.slice(0, 10) : dayOfHour(at);
};

/** The hour of UTC asked for last: it lies in one day there. Of each night three are asked for by everything that is created in them. */
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

/** Asks the zone's rules, which takes some microseconds. */
const askZone = (at: Timestamp, zone: CivilZone): string => {
  if (at < FIRST) throw new RangeError(`no civil day before ${FIRST}: ${at}`);
  const parts = new Map(RULES[zone].formatToParts(toMillis(at)).map(({ type, value }) => [type, value]));
  return `${parts.get('year')!.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
};

/** Days from 1970-01-01 to `day` (`yyyy-mm-dd`), negative before it. RangeError when the calendar has no such day. */
export const epochDayOf = (day: string): number => {
  const midnight = `${day}T00:00:00.000Z`;
  if (!isTimestamp(midnight)) throw new RangeError(`not a civil day: ${day}`);
  return toMillis(midnight) / DAY_MS;
};

/**
 * Returns the last millisecond of the civil day that lies `days` after the day of `at` in the zone. A day may have 23 or 25 hours.
 * Exact since 1914; RangeError beyond the year 9999.
 */
export const endOfCivilDay = (at: Timestamp, days: number, zone: CivilZone): Timestamp => {
  const day = dayOfEpoch(epochDayOf(askZone(at, zone)) + days);
  const noon = toMillis(`${day}T12:00:00.000Z` as Timestamp);
  // Both zones are within three hours of UTC: the day is still under way at its noon of UTC, and over 24 hours later.
  let [last, over] = [noon, noon + 24 * HOUR_MS];
  while (over - last > MINUTE_MS) {
    const middle = last + Math.floor((over - last) / MINUTE_MS / 2) * MINUTE_MS;
    if (askZone(fromMillis(middle), zone) > day) over = middle;
    else last = middle;
  }
  return fromMillis(over - 1);
};

const dayOfEpoch = (epochDay: number): string => new Date(epochDay * DAY_MS).toISOString().slice(0, 10);

/** The last `count` "business days" up to `today`, which is the last of them: read as civil days, every one counts (T1). */
export const lastBusinessDays = (today: string, count: number): readonly string[] => {
  const last = epochDayOf(today);
  return Array.from({ length: count }, (_, n) => dayOfEpoch(last - count + 1 + n));
};
