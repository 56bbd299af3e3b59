// Times to pay: exact percentiles of any sum of histograms, and the same text for the same counts.
import { expect } from 'chai';
import fc from 'fast-check';
import { decodeHistogram, encodeHistogram, HistogramSum } from '../../../projections/stats/histogram.ts';
import { periodsOf } from '../../../projections/stats/queries.ts';

const seconds = fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 300_000 }), fc.nat({ max: 2 ** 32 - 1 }));
const histogramOf = (times: readonly number[]): Map<number, number> =>
  new Map([...Map.groupBy(times, (time) => time)].map(([time, same]) => [time, same.length]));

describe('histograms of times to pay', () => {
  it('are read as they were written, and are the same text in whatever order they were counted', () => {
    fc.assert(
      fc.property(fc.array(seconds, { maxLength: 50 }), (times) => {
        const histogram = histogramOf(times);
        const text = encodeHistogram(histogram);
        expect(decodeHistogram(text)).to.deep.equal(histogram);
        expect(encodeHistogram(histogramOf(times.toReversed()))).to.equal(text);
      }),
    );
  });

  it('sum up to the exact percentiles of all times', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(seconds, { maxLength: 20 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 100 }),
        (parts, percent) => {
          const sum = new HistogramSum();
          for (const part of parts) sum.add(encodeHistogram(histogramOf(part)));
          const all = parts.flat().toSorted((a, b) => a - b);
          expect(sum.percentile(percent)).to.equal(all[Math.ceil((all.length * percent) / 100) - 1] ?? null);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('the periods of a window', () => {
  it('are its whole months and the other days', () => {
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
