// Percentiles of times to pay by buckets: exact up to 255 seconds, and at most 0.8 % too low above.
import { expect } from 'chai';
import fc from 'fast-check';
import { bucketOf, percentileOf } from '../../../projections/stats/buckets.ts';
import { periodsOf } from '../../../projections/stats/queries.ts';

const seconds = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 300_000 }), fc.nat({ max: 2 ** 32 }));
const bucketsOf = (times: readonly number[]) =>
  [...Map.groupBy(times.map(bucketOf), (time) => time)]
    .map(([bucket, same]) => ({ seconds: bucket, payments: same.length }))
    .toSorted((a, b) => a.seconds - b.seconds);

describe('buckets of times to pay', () => {
  it('are one second wide up to 255 s, then increasingly wider', () => {
    const starts = (from: number, to: number) => {
      const all = new Set<number>();
      for (let one = from; one <= to; one++) all.add(bucketOf(one));
      return [...all];
    };
    expect(starts(0, 255)).to.deep.equal(Array.from({ length: 256 }, (_, n) => n));
    expect(starts(256, 263)).to.deep.equal([256, 258, 260, 262]);
    expect(starts(86_400, 87_400)).to.deep.equal([86_016, 86_528, 87_040]);
    expect(starts(0, 365 * 86_400).length).to.equal(2_417);
  });

  it('start at or below the time, by at most 1/128 of it', () => {
    fc.assert(
      fc.property(seconds, (time) => {
        const bucket = bucketOf(time);
        expect(bucket).to.be.at.most(time);
        expect(time - bucket).to.be.at.most(time < 256 ? 0 : time / 128);
        expect(bucketOf(bucket)).to.equal(bucket);
      }),
    );
  });

  it('give the bucket of the exact percentile', () => {
    fc.assert(
      fc.property(fc.array(seconds, { maxLength: 80 }), fc.integer({ min: 1, max: 100 }), (times, percent) => {
        const exact = times.toSorted((a, b) => a - b)[Math.ceil((times.length * percent) / 100) - 1];
        expect(percentileOf(bucketsOf(times), percent)).to.equal(exact === undefined ? null : bucketOf(exact));
      }),
    );
  });
});

describe('the periods of a window', () => {
  it('are its whole calendar months and the remaining days', () => {
    const days = (from: string, to: string): string[] => {
      const all: string[] = [];
      for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
        all.push(new Date(at).toISOString().slice(0, 10));
      return all;
    };
    expect(periodsOf(days('2028-01-31', '2028-03-02'))).to.deep.equal([
      '2028-01-31',
      '2028-02',
      '2028-03-01',
      '2028-03-02',
    ]);
    expect(periodsOf(days('2026-02-01', '2026-02-28'))).to.deep.equal(['2026-02']);
    expect(periodsOf(days('2026-11-21', '2026-11-21'))).to.deep.equal(['2026-11-21']);
    expect(periodsOf(days('2028-02-01', '2028-02-28')).length).to.equal(28);
  });
});
