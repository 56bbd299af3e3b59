// Half-up division, checked against a BigInt implementation (rules T2, T3).
import { expect } from 'chai';
import fc from 'fast-check';
import { divideHalfUp, percentHalfUp } from '../../../domain/kernel/rounding.ts';

describe('half-up rounding', () => {
  for (const [part, whole, percent] of [
    [0, 0, 0],
    [0, 5, 0],
    [1, 3, 33],
    [2, 3, 67],
    [1, 200, 1],
    [1, 201, 0],
    [1, 8, 13],
    [199, 200, 100],
    [5, 5, 100],
  ] as const)
    it(`returns ${percent} percent for ${part} of ${whole}`, () =>
      expect(percentHalfUp(part, whole)).to.equal(percent));

  it('is exact for safe integers', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (numerator, denominator) => {
        const [n, d] = [BigInt(numerator), BigInt(denominator)];
        expect(divideHalfUp(numerator, denominator)).to.equal(Number((2n * n + d) / (2n * d)));
      }),
    );
  });
});
