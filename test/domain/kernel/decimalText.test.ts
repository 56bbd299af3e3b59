// Every amount shown to a user is formatted by this function, so it must be exact for every size and sign.

import { expect } from 'chai';
import fc from 'fast-check';
import { decimalText } from '../../../domain/kernel/money.ts';
import { amountText } from '../../../infrastructure/cli/output.ts';

const PT_BR = { point: ',', group: '.' };

describe('decimalText', () => {
  for (const [minor, decimals, plain, grouped] of [
    [0, 2, '0.00', '0,00'],
    [1, 2, '0.01', '0,01'],
    [-1, 2, '-0.01', '-0,01'],
    [10, 2, '0.10', '0,10'],
    [-100, 2, '-1.00', '-1,00'],
    [99_999_999_999, 2, '999999999.99', '999.999.999,99'],
    [-99_999_999_999, 2, '-999999999.99', '-999.999.999,99'],
    [Number.MAX_SAFE_INTEGER, 2, '90071992547409.91', '90.071.992.547.409,91'],
    [Number.MIN_SAFE_INTEGER, 2, '-90071992547409.91', '-90.071.992.547.409,91'],
    [Number.MAX_SAFE_INTEGER, 8, '90071992.54740991', '90.071.992,54740991'],
    [1, 8, '0.00000001', '0,00000001'],
    [1_234, 0, '1234', '1.234'],
    [-7, 0, '-7', '-7'],
    [0, 0, '0', '0'],
  ] as const)
    it(`formats ${minor} with ${decimals} decimals as ${plain}`, () => {
      expect([decimalText(minor, decimals), decimalText(minor, decimals, PT_BR)]).to.deep.equal([plain, grouped]);
    });

  it('preserves every digit of every amount (law)', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 20 }), (minor, decimals) => {
        const text = decimalText(minor, decimals);
        expect(text).to.match(decimals === 0 ? /^-?(0|[1-9]\d*)$/ : /^-?(0|[1-9]\d*)\.\d+$/);
        expect(text.split('.')[1]?.length ?? 0).to.equal(decimals);
        expect(BigInt(text.replace('.', ''))).to.equal(BigInt(minor));
        expect(decimalText(minor, decimals, PT_BR).replaceAll('.', '').replace(',', '.')).to.equal(text);
      }),
    );
  });

  it('rejects non-integers, unsafe integers and invalid numbers of decimals', () => {
    for (const minor of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => decimalText(minor, 2), String(minor)).to.throw(RangeError);
    for (const decimals of [-1, 1.5, Number.NaN])
      expect(() => decimalText(1, decimals), String(decimals)).to.throw(RangeError);
  });

  it('formats the amounts shown to operators', () => {
    expect(amountText(99_999_999_999, 'BRL')).to.equal('999999999.99');
    expect(amountText(-99_999_999_999, 'BRL')).to.equal('-999999999.99');
    expect(amountText(-5, 'BTC')).to.equal('-0.00000005');
    expect(amountText(-5, 'GBP')).to.equal('-5');
  });
});
