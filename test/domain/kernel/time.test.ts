import { expect } from 'chai';
import fc from 'fast-check';
import {
  addMillis,
  addSeconds,
  DAY_MS,
  earlier,
  fromMillis,
  HOUR_MS,
  isTimestamp,
  later,
  MINUTE_MS,
  SECOND_MS,
  secondsBetween,
  toMillis,
} from '../../../domain/kernel/time.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const at = parseTimestamp('2026-11-21T13:00:00.000Z');

describe('Timestamp', () => {
  for (const [millis, text] of [
    [0, '1970-01-01T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [951_782_400_000, '2000-02-29T00:00:00.000Z'],
    [1_795_266_000_000, '2026-11-21T13:00:00.000Z'],
    [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  ] as const)
    it(`formats ${millis} as ${text} and parses it back`, () => {
      expect([fromMillis(millis), toMillis(parseTimestamp(text))]).to.deep.equal([text, millis]);
    });

  for (const value of [
    '',
    '2026-11-21',
    '2026-11-21T13:00:00Z',
    '2026-11-21T13:00:00.00Z',
    '2026-11-21T13:00:00.0000Z',
    '2026-11-21T13:00:00.000',
    '2026-11-21T13:00:00.000z',
    '2026-11-21t13:00:00.000Z',
    '2026-11-21 13:00:00.000Z',
    '2026-11-21T13:00:00.000+00:00',
    '2026-11-21T13:00:00.000-03:00',
    '2026-13-21T13:00:00.000Z',
    '2026-00-21T13:00:00.000Z',
    '2026-11-32T13:00:00.000Z',
    '2026-11-21T25:00:00.000Z',
    '2026-11-21T13:60:00.000Z',
    '2026-11-21T13:00:60.000Z',
    '+010000-01-01T00:00:00.000Z',
    '2026-11-21T13:00:00.000Z\n',
    ' 2026-11-21T13:00:00.000Z',
  ])
    it(`rejects ${JSON.stringify(value)}`, () => {
      expect(isTimestamp(value)).to.equal(false);
      expect(() => parseTimestamp(value)).to.throw(RangeError);
    });

  it('accepts exactly the texts that are valid dates and times', () => {
    const pair = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
    const year = fc.integer({ min: 0, max: 9_999 }).map((n) => String(n).padStart(4, '0'));
    fc.assert(
      fc.property(year, pair(14), pair(33), pair(26), pair(62), pair(62), (y, month, day, hour, minute, second) => {
        const text = `${y}-${month}-${day}T${hour}:${minute}:${second}.007Z`;
        const instant = new Date(text);
        const isShown = !Number.isNaN(instant.getTime()) && instant.toISOString() === text;
        expect(isTimestamp(text), text).to.equal(isShown);
      }),
      { numRuns: 2_000 },
    );
    const standing = (y: number) =>
      Array.from({ length: 12 }, (_, n) =>
        ['28', '29', '30', '31'].findLast((day) =>
          isTimestamp(`${y}-${String(n + 1).padStart(2, '0')}-${day}T00:00:00.000Z`),
        ),
      ).join(' ');
    const ofEvery = '31 28 31 30 31 30 31 31 30 31 30 31';
    const ofLeap = ofEvery.replace('28', '29');
    expect([1900, 2000, 2026, 2028].map(standing)).to.deep.equal([ofEvery, ofLeap, ofEvery, ofLeap]);
  });

  it('rejects everything but strings', () => {
    expect([0, null, undefined, new Date(0), [at], {}].map(isTimestamp)).to.deep.equal(Array(6).fill(false));
  });

  it('throws for an instant out of range', () => {
    for (const millis of [Number.NaN, Number.POSITIVE_INFINITY, 8_640_000_000_000_001])
      expect(() => fromMillis(millis)).to.throw(RangeError);
  });
});

describe('time arithmetic', () => {
  it('adds across days, leap days and years, forward and back', () => {
    expect([
      addMillis(at, 1),
      addMillis(at, -1),
      addMillis(at, 0),
      addMillis(parseTimestamp('2028-02-28T12:00:00.000Z'), DAY_MS),
      addMillis(parseTimestamp('2026-12-31T23:59:59.999Z'), 1),
      addSeconds(at, 90),
      addSeconds(at, -3_600),
    ]).to.deep.equal([
      '2026-11-21T13:00:00.001Z',
      '2026-11-21T12:59:59.999Z',
      '2026-11-21T13:00:00.000Z',
      '2028-02-29T12:00:00.000Z',
      '2027-01-01T00:00:00.000Z',
      '2026-11-21T13:01:30.000Z',
      '2026-11-21T12:00:00.000Z',
    ]);
  });

  it('returns the seconds between two times, rounded to the nearest', () => {
    const after = (millis: number): number => secondsBetween(at, addMillis(at, millis));
    expect([0, 499, 500, 1_499, 90_000, -1_000].map(after)).to.deep.equal([0, 0, 1, 1, 90, -1]);
  });

  it('returns the earlier and the later time', () => {
    const next = addMillis(at, 1);
    expect([earlier(at, next), earlier(next, at), later(at, next), later(next, at), later(at, at)]).to.deep.equal([
      at,
      at,
      next,
      next,
      at,
    ]);
  });

  it('defines its units in milliseconds', () => {
    expect([SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS]).to.deep.equal([1_000, 60_000, 3_600_000, 86_400_000]);
  });

  const millis = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(9999, 11, 31) });

  it('round-trips every instant as 24 characters', () => {
    fc.assert(
      fc.property(millis, (instant) => {
        const text = fromMillis(instant);
        expect([toMillis(text), text.length, isTimestamp(text)]).to.deep.equal([instant, 24, true]);
      }),
    );
  });

  it('sorts timestamps as text in time order', () => {
    const near = fc.integer({ min: -DAY_MS, max: DAY_MS });
    fc.assert(
      fc.property(fc.integer({ min: DAY_MS, max: Date.UTC(9999, 0, 1) }), near, (instant, by) => {
        const [a, b] = [fromMillis(instant), fromMillis(instant + by)];
        expect([a < b, a > b]).to.deep.equal([by > 0, by < 0]);
        expect([earlier(a, b), later(a, b)]).to.deep.equal(by > 0 ? [a, b] : [b, a]);
        expect(addMillis(a, by)).to.equal(b);
      }),
    );
  });
});
