import { expect } from 'chai';
import fc from 'fast-check';
import { CURRENCY_DECIMALS, METHOD_RULES } from '../../../domain/charge/methods.ts';
import { AMOUNT_MAX, toMinor } from '../../../domain/kernel/money.ts';
import { cryptoAmount } from '../../../domain/methods/cryptoAmount.ts';

describe('cryptoAmount', () => {
  for (const [currency, amount, text] of [
    ['BTC', 1, '0.00000001'],
    ['BTC', 99_999_999, '0.99999999'],
    ['BTC', 100_000_000, '1.00000000'],
    ['BTC', 150_000_000, '1.50000000'],
    ['BTC', AMOUNT_MAX, '999.99999999'],
    ['BTC', 0, '0.00000000'],
    ['USDT', 1, '0.000001'],
    ['USDT', 12_500_000, '12.500000'],
    ['USDC', AMOUNT_MAX, '99999.999999'],
    ['USDC', 1_000_001, '1.000001'],
  ] as const)
    it(`formats ${amount} of ${currency} as ${text}`, () => {
      expect(cryptoAmount(toMinor(amount), CURRENCY_DECIMALS[currency]!)).to.equal(text);
    });

  it('is exact for the largest safe integer', () => {
    expect(cryptoAmount(toMinor(Number.MAX_SAFE_INTEGER), 8)).to.equal('90071992.54740991');
  });

  for (const [amount, decimals] of [
    [-1, 8],
    [1, 0],
    [1, -1],
    [1, 1.5],
    [1, Number.NaN],
  ] as const)
    it(`rejects ${amount} with ${decimals} decimals`, () => {
      expect(() => cryptoAmount(toMinor(amount), decimals)).to.throw(RangeError);
    });

  it('preserves the minor units (law)', () => {
    const amounts = fc.integer({ min: 0, max: AMOUNT_MAX }).map(toMinor);
    fc.assert(
      fc.property(amounts, fc.constantFrom(...METHOD_RULES.CRYPTO.currencies), (amount, currency) => {
        const text = cryptoAmount(amount, CURRENCY_DECIMALS[currency]!);
        const [whole = '', rest = ''] = text.split('.');
        expect(text).to.match(/^(?:0|[1-9][0-9]*)\.[0-9]+$/);
        expect([rest.length, BigInt(whole + rest)]).to.deep.equal([CURRENCY_DECIMALS[currency], BigInt(amount)]);
      }),
    );
  });
});
