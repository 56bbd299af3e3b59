import { expect } from 'chai';
import fc from 'fast-check';
import {
  AMOUNT_MAX,
  AMOUNT_MIN,
  add,
  basisPointsOf,
  least,
  type Minor,
  negate,
  subtract,
  toMinor,
  ZERO,
} from '../../../domain/kernel/money.ts';

const MAX = Number.MAX_SAFE_INTEGER;

describe('toMinor', () => {
  for (const value of [0, 1, -1, AMOUNT_MIN, AMOUNT_MAX, MAX, -MAX])
    it(`accepts ${value}`, () => {
      expect(toMinor(value)).to.equal(value);
    });

  it('normalizes −0 to 0, as JSON does', () => {
    expect([toMinor(-0), ZERO, negate(ZERO)].map((zero) => Object.is(zero, 0))).to.deep.equal([true, true, true]);
  });

  for (const value of [0.5, 1.1, MAX + 1, -MAX - 1, 1e21, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined])
    it(`rejects ${JSON.stringify(value)} (${String(value)})`, () => {
      expect(() => toMinor(value as number)).to.throw(RangeError);
    });
});

describe('arithmetic of amounts', () => {
  const five = toMinor(5);
  const seven = toMinor(7);

  it('adds, subtracts, negates and returns the smaller amount', () => {
    expect([
      add(five, seven),
      subtract(five, seven),
      negate(five),
      least(five, seven),
      least(seven, five),
    ]).to.deep.equal([12, -2, -5, 5, 5]);
  });

  it('throws instead of rounding', () => {
    expect(() => add(toMinor(MAX), toMinor(1))).to.throw(RangeError);
    expect(() => subtract(toMinor(-MAX), toMinor(1))).to.throw(RangeError);
  });

  it('returns the original amount when an added amount is subtracted again', () => {
    const amount = fc.integer({ min: -AMOUNT_MAX, max: AMOUNT_MAX }).map(toMinor);
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(subtract(add(a, b), b)).to.equal(a);
        expect(add(a, negate(a))).to.equal(ZERO);
        expect(least(a, b)).to.equal(Math.min(a, b));
      }),
    );
  });
});

describe('basisPointsOf', () => {
  for (const [amount, bps, share] of [
    [0, 10_000, 0],
    [12_345, 0, 0],
    [12_345, 10_000, 12_345],
    [10_000, 100, 100],
    [49, 100, 0], // 0.49
    [50, 100, 1], // 0.50: half rounds up
    [149, 100, 1],
    [150, 100, 2],
    [1, 4_999, 0],
    [1, 5_000, 1],
    [1_999, 250, 50], // 49.975
    [AMOUNT_MAX, 1, 10_000_000],
    [AMOUNT_MAX, 9_999, 99_989_999_999],
    [AMOUNT_MAX, 10_000, AMOUNT_MAX],
  ] as const)
    it(`returns ${share} for ${bps} bps of ${amount}`, () => {
      expect(basisPointsOf(toMinor(amount), bps)).to.equal(share);
    });

  for (const [amount, bps] of [
    [-1, 100],
    [100, -1],
    [100, 10_001],
    [100, 0.5],
    [100, Number.NaN],
  ] as const)
    it(`rejects ${bps} bps of ${amount}`, () => {
      expect(() => basisPointsOf(toMinor(amount), bps)).to.throw(RangeError);
    });

  it('rounds half up exactly, up to the largest amount', () => {
    const amount: fc.Arbitrary<Minor> = fc
      .oneof(fc.integer({ min: 0, max: AMOUNT_MAX }), fc.integer({ min: AMOUNT_MAX - 10_000, max: AMOUNT_MAX }))
      .map(toMinor);
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 10_000 }), (whole, bps) => {
        const exact = (2n * BigInt(whole) * BigInt(bps) + 10_000n) / 20_000n;
        expect(BigInt(basisPointsOf(whole, bps))).to.equal(exact);
      }),
      { numRuns: 1_000 },
    );
  });
});
