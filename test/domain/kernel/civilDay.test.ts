import { expect } from 'chai';
import fc from 'fast-check';
import {
  civilDayBounds,
  endOfCivilDay,
  epochDayOf,
  lastBusinessDays,
  saoPauloDay,
  saoPauloTime,
} from '../../../domain/kernel/civilDay.ts';
import { addMillis, DAY_MS, fromMillis, HOUR_MS } from '../../../domain/kernel/time.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

describe('saoPauloDay', () => {
  for (const [at, day, why] of [
    ['2026-11-21T02:59:59.999Z', '2026-11-20', 'three hours behind UTC'],
    ['2026-11-21T03:00:00.000Z', '2026-11-21', 'three hours behind UTC'],
    ['2026-11-22T02:59:59.999Z', '2026-11-21', 'three hours behind UTC'],
    ['2027-01-15T02:30:00.000Z', '2027-01-14', 'no daylight saving time since 2019'],
    ['2027-01-01T02:59:59.999Z', '2026-12-31', 'the year turns at midnight'],
    ['2028-03-01T02:59:59.999Z', '2028-02-29', 'a leap day'],
    ['2019-01-15T01:59:59.999Z', '2019-01-14', 'daylight saving time, two hours behind'],
    ['2019-01-15T02:00:00.000Z', '2019-01-15', 'daylight saving time, two hours behind'],
    ['2018-11-04T02:59:59.999Z', '2018-11-03', 'the last day before daylight saving time'],
    ['2018-11-04T03:00:00.000Z', '2018-11-04', 'a day that begins at 01:00'],
    ['2018-11-05T01:59:59.999Z', '2018-11-04', 'a day of 23 hours'],
    ['2018-11-05T02:00:00.000Z', '2018-11-05', 'the day after it'],
    ['2019-02-17T02:59:59.999Z', '2019-02-16', 'a day of 25 hours'],
    ['2019-02-17T03:00:00.000Z', '2019-02-17', 'the day after it'],
    ['1914-01-01T03:06:27.999Z', '1913-12-31', 'the last instant of local mean time'],
    ['1914-01-01T03:06:28.000Z', '1914-01-01', 'the first one of the zone'],
    ['0001-01-02T00:00:00.000Z', '0001-01-01', 'local mean time'],
    ['0987-06-05T12:00:00.000Z', '0987-06-05', 'a year of three digits'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31', 'the last instant'],
  ] as const)
    it(`returns ${day} for ${at} (${why})`, () => {
      expect(saoPauloDay(parseTimestamp(at))).to.equal(day);
    });

  it('returns the same day when called twice', () => {
    const at = parseTimestamp('2026-11-21T13:00:00.000Z');
    expect([saoPauloDay(at), saoPauloDay(at)]).to.deep.equal(['2026-11-21', '2026-11-21']);
  });

  it('returns the same day for both ends of an hour and recomputes for the next hour', () => {
    const days = ['2019-01-15T01:00', '2019-01-15T01:59', '2019-01-15T02:00', '2019-01-15T01:00', '1913-01-01T03:06'];
    expect(days.map((at) => saoPauloDay(parseTimestamp(`${at}:28.000Z`)))).to.deep.equal([
      '2019-01-14',
      '2019-01-14',
      '2019-01-15',
      '2019-01-14',
      '1913-01-01',
    ]);
    expect(saoPauloDay(parseTimestamp('1913-01-01T03:06:27.000Z'))).to.equal('1912-12-31');
  });

  it('agrees with the rules of the time zone for any order of calls (law)', () => {
    const rules = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' });
    // Nights with either UTC offset, and nights of each change between them.
    const nights = ['2026-11-21', '2026-11-22', '2019-01-15', '2018-11-04', '2018-11-05', '2019-02-17', '1914-01-01'];
    const night = fc.constantFrom(...nights).map((day) => Date.parse(day));
    const instant = fc.tuple(night, fc.integer({ min: 0, max: 4 * HOUR_MS })).map(([from, by]) => from + by);
    fc.assert(
      fc.property(fc.array(instant, { minLength: 10, maxLength: 10 }), (instants) => {
        for (const millis of [...instants, ...instants])
          expect(saoPauloDay(fromMillis(millis))).to.equal(rules.format(millis));
      }),
    );
  });

  for (const at of ['0001-01-01T23:59:59.999Z', '0000-01-01T00:00:00.000Z'])
    it(`rejects ${at}`, () => {
      expect(() => saoPauloDay(parseTimestamp(at))).to.throw(RangeError, '0001-01-02');
    });

  it('never decreases and is the UTC day or the day before (law)', () => {
    const instant = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2100-01-01') }).map(fromMillis);
    fc.assert(
      fc.property(instant, (at) => {
        const day = epochDayOf(saoPauloDay(at));
        expect(epochDayOf(at.slice(0, 10)) - day).to.be.within(0, 1);
        expect(epochDayOf(saoPauloDay(addMillis(at, HOUR_MS))) - day).to.be.within(0, 1);
      }),
    );
  });
});

describe('epochDayOf', () => {
  for (const [day, number] of [
    ['1970-01-01', 0],
    ['1969-12-31', -1],
    ['2000-03-01', 11_017],
    ['2026-11-21', 20_778],
  ] as const)
    it(`returns ${number} for ${day}`, () => {
      expect(epochDayOf(day)).to.equal(number);
    });

  it('increases by one per day (law)', () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (number) => {
        expect(epochDayOf(fromMillis(number * DAY_MS).slice(0, 10))).to.equal(number);
      }),
    );
  });

  for (const text of ['2026-02-29', '2026-13-01', '2026-1-1', '2026-11-21T00:00:00.000Z', '', '21/11/2026'])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => epochDayOf(text)).to.throw(RangeError, `not a civil day: ${text}`);
    });
});

describe('lastBusinessDays', () => {
  it('returns civil days up to today, including weekends and holidays', () => {
    expect(lastBusinessDays('2026-11-23', 4)).to.deep.equal(['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23']);
    expect(lastBusinessDays('2026-01-01', 2)).to.deep.equal(['2025-12-31', '2026-01-01']);
    expect(lastBusinessDays('2028-03-01', 2)).to.deep.equal(['2028-02-29', '2028-03-01']);
    expect(lastBusinessDays('2026-11-23', 1)).to.deep.equal(['2026-11-23']);
  });

  it('returns the requested number of days without gaps (law)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 1, max: 3_650 }), (last, count) => {
        const today = fromMillis(last * DAY_MS).slice(0, 10);
        const days = lastBusinessDays(today, count);
        expect([days.length, days.at(-1)]).to.deep.equal([count, today]);
        expect(days.map(epochDayOf)).to.deep.equal(Array.from({ length: count }, (_, n) => last - count + 1 + n));
      }),
      { numRuns: 20 },
    );
  });
});

describe('endOfCivilDay (P5)', () => {
  for (const [at, days, zone, end, why] of [
    ['2026-11-23T07:47:00.000Z', 3, 'America/Sao_Paulo', '2026-11-27T02:59:59.999Z', 'three hours behind UTC'],
    ['2026-11-23T02:59:59.999Z', 3, 'America/Sao_Paulo', '2026-11-26T02:59:59.999Z', 'made late on the 22nd there'],
    ['2026-11-23T03:00:00.000Z', 3, 'America/Sao_Paulo', '2026-11-27T02:59:59.999Z', 'made as the 23rd begins there'],
    ['2027-02-26T12:00:00.000Z', 3, 'America/Sao_Paulo', '2027-03-02T02:59:59.999Z', 'over the end of a month'],
    ['2026-12-30T12:00:00.000Z', 3, 'America/Sao_Paulo', '2027-01-03T02:59:59.999Z', 'over the end of a year'],
    [
      '2018-11-01T12:00:00.000Z',
      2,
      'America/Sao_Paulo',
      '2018-11-04T02:59:59.999Z',
      'before a day that begins at 01:00',
    ],
    ['2018-11-01T12:00:00.000Z', 3, 'America/Sao_Paulo', '2018-11-05T01:59:59.999Z', 'a day of 23 hours'],
    ['2019-02-13T12:00:00.000Z', 3, 'America/Sao_Paulo', '2019-02-17T02:59:59.999Z', 'a day of 25 hours'],
    ['2026-11-23T23:59:59.999Z', 3, 'Europe/Lisbon', '2026-11-26T23:59:59.999Z', 'winter: as UTC'],
    ['2026-07-01T22:59:59.999Z', 3, 'Europe/Lisbon', '2026-07-04T22:59:59.999Z', 'summer: an hour ahead'],
    ['2026-07-01T23:00:00.000Z', 3, 'Europe/Lisbon', '2026-07-05T22:59:59.999Z', 'summer: the next day has begun'],
    ['2026-03-26T12:00:00.000Z', 3, 'Europe/Lisbon', '2026-03-29T22:59:59.999Z', 'the day on which summer begins'],
    ['2026-10-22T12:00:00.000Z', 3, 'Europe/Lisbon', '2026-10-25T23:59:59.999Z', 'the day on which it ends'],
  ] as const)
    it(`returns ${end} for ${days} days after ${at} in ${zone} (${why})`, () => {
      expect(endOfCivilDay(parseTimestamp(at), days, zone)).to.equal(end);
    });

  it('returns the last millisecond of the day in the zone (law)', () => {
    const zones = ['America/Sao_Paulo', 'Europe/Lisbon'] as const;
    const rules = Object.fromEntries(
      zones.map((timeZone) => [timeZone, new Intl.DateTimeFormat('sv-SE', { timeZone })]),
    );
    const instant = fc.integer({ min: Date.parse('1970-01-01'), max: Date.parse('2100-01-01') });
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 10 }), fc.constantFrom(...zones), (millis, days, zone) => {
        const end = Date.parse(endOfCivilDay(fromMillis(millis), days, zone));
        const day = rules[zone]!.format(end);
        expect(epochDayOf(day) - epochDayOf(rules[zone]!.format(millis))).to.equal(days);
        expect(epochDayOf(rules[zone]!.format(end + 1))).to.equal(epochDayOf(day) + 1);
      }),
      { numRuns: 500 },
    );
  });
});

describe('civilDayBounds', () => {
  const boundsOf = (day: string) => civilDayBounds(day, 'America/Sao_Paulo');
  it('returns the first and last millisecond of the day', () => {
    expect(boundsOf('2026-11-29')).to.deep.equal({ from: '2026-11-29T03:00:00.000Z', to: '2026-11-30T02:59:59.999Z' });
    expect(boundsOf('9999-12-30')?.to).to.equal('9999-12-31T02:59:59.999Z');
  });
  for (const day of ['', '2026-02-30', '1914-01-01', '9999-12-31'])
    it(`returns null for '${day}'`, () => {
      expect(boundsOf(day)).to.equal(null);
    });
});

describe('saoPauloTime', () => {
  for (const [at, local, offset] of [
    ['2026-11-21T13:59:59.999Z', '2026-11-21T10:59:59.999', -3],
    ['2026-11-21T02:00:00.000Z', '2026-11-20T23:00:00.000', -3],
    ['2027-01-01T00:30:00.000Z', '2026-12-31T21:30:00.000', -3],
    ['2019-01-15T13:00:00.000Z', '2019-01-15T11:00:00.000', -2],
    ['2019-01-15T01:59:59.999Z', '2019-01-14T23:59:59.999', -2],
  ] as const)
    it(`returns ${local} for ${at}, in any order of calls`, () => {
      const asked = parseTimestamp(at);
      expect(saoPauloTime(asked)).to.deep.equal({ local, offset });
      saoPauloTime(parseTimestamp(offset === -3 ? '2019-01-15T13:30:00.000Z' : '2026-11-21T13:30:00.000Z'));
      expect(saoPauloTime(asked)).to.deep.equal({ local, offset });
    });
});
