import { expect } from 'chai';
import fc from 'fast-check';
import { SETTING_BOUNDS } from '../../../domain/account/ownSettings.ts';
import { AMOUNT_MAX, toMinor } from '../../../domain/kernel/money.ts';
import { chargeFees, DEFAULT_FEES, type FeePair } from '../../../domain/transaction/fees.ts';

type Method = keyof typeof DEFAULT_FEES;
/** M1: amount, provider fee, platform fee, net amount. Each fee is rounded half up. */
const M1: readonly (readonly [Method, number, number, number, number])[] = [
  ['PIX', 10_000, 10, 100, 9_890],
  ['PIX', 1_234, 10, 12, 1_212],
  ['PIX', 1_250, 10, 13, 1_227], // 12.5 rounds up
  ['PIX', 1_249, 10, 12, 1_227],
  ['PIX', 50, 10, 1, 39], // 0.5 rounds up
  ['PIX', 49, 10, 0, 39],
  ['PIX', 11, 10, 0, 1],
  ['PIX', 10, 10, 0, 0],
  ['PIX', 1, 1, 0, 0], // never more than the amount
  ['PIX', 99_999_999_999, 10, 1_000_000_000, 98_999_999_989],
  ['CREDIT_CARD', 10_000, 280, 100, 9_620],
  ['CREDIT_CARD', 31, 31, 0, 0],
  ['BOLETO', 10_000, 150, 100, 9_750],
  ['MBWAY', 333, 5, 3, 325],
  ['MULTIBANCO', 100, 2, 1, 97], // 1.5 rounds up
  ['CRYPTO', 1, 0, 0, 1],
];
const pair = (providerBps: number, providerFixed: number, platformBps: number, platformFixed: number): FeePair => ({
  provider: { percentBps: providerBps, fixed: toMinor(providerFixed) },
  platform: { percentBps: platformBps, fixed: toMinor(platformFixed) },
});

describe('chargeFees', () => {
  for (const [method, amount, providerFee, platformFee, netAmount] of M1)
    it(`calculates the fees of ${amount} by ${method}`, () => {
      expect(chargeFees(toMinor(amount), DEFAULT_FEES[method])).to.deep.equal({ providerFee, platformFee, netAmount });
    });
  it('reduces the platform fee first if both exceed the amount', () => {
    expect(chargeFees(toMinor(100), pair(0, 90, 0, 90))).to.deep.equal({
      providerFee: 90,
      platformFee: 10,
      netAmount: 0,
    });
    expect(chargeFees(toMinor(100), pair(0, 190, 0, 90))).to.deep.equal({
      providerFee: 100,
      platformFee: 0,
      netAmount: 0,
    });
  });
  it('is exact: equals the calculation with BigInt', () => {
    const bps = fc.integer({ min: 0, max: 10_000 });
    const fixed = fc.integer({ min: SETTING_BOUNDS.feeFixed[0], max: SETTING_BOUNDS.feeFixed[1] });
    const exact = (amount: bigint, percent: number, flat: number) =>
      (amount * BigInt(percent) * 2n + 10_000n) / 20_000n + BigInt(flat);
    const least = (a: bigint, b: bigint) => (a < b ? a : b);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: AMOUNT_MAX }), bps, fixed, bps, fixed, (amount, a, b, c, d) => {
        const provider = least(exact(BigInt(amount), a, b), BigInt(amount));
        const platform = least(exact(BigInt(amount), c, d), BigInt(amount) - provider);
        expect(chargeFees(toMinor(amount), pair(a, b, c, d))).to.deep.equal({
          providerFee: Number(provider),
          platformFee: Number(platform),
          netAmount: Number(BigInt(amount) - provider - platform),
        });
      }),
    );
  });
});
