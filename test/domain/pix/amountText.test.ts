import { expect } from 'chai';
import { AMOUNT_MAX, toMinor } from '../../../domain/kernel/money.ts';
import { amountText } from '../../../domain/pix/brCode.ts';
import { parseAmountText } from '../../support/pix/amountText.ts';

describe('amountText', () => {
  for (const [minor, text] of [
    [0, '0.00'],
    [1, '0.01'],
    [9, '0.09'],
    [10, '0.10'],
    [99, '0.99'],
    [100, '1.00'],
    [12_345, '123.45'],
    [1_000_000, '10000.00'],
    [AMOUNT_MAX, '999999999.99'],
    [Number.MAX_SAFE_INTEGER, '90071992547409.91'],
  ] as const)
    it(`formats ${minor} as ${text}`, () => {
      expect(amountText(toMinor(minor))).to.equal(text);
    });

  it('rejects a negative amount', () => {
    expect(() => amountText(toMinor(-1))).to.throw(RangeError);
  });
});

describe('parseAmountText', () => {
  for (const [text, minor] of [
    ['0.00', 0],
    ['0.01', 1],
    ['0.9', 90],
    ['0.90', 90],
    ['100', 10_000],
    ['37.00', 3_700],
    ['00000123.45', 12_345],
    ['1.15', 115], // As a float, 1.15 * 100 is 114.99999999999999.
    ['8.20', 820],
    ['999999999.99', AMOUNT_MAX],
    ['9999999999999.99', 999_999_999_999_999],
  ] as const)
    it(`parses ${text} as ${minor}`, () => {
      expect(parseAmountText(text)).to.equal(minor);
    });

  for (const text of [
    '',
    '.5',
    '5.',
    '1,00',
    '1.000',
    '1.000,00',
    '-1.00',
    '+1.00',
    ' 1.00',
    '1.00 ',
    '1.00\n',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '1.0.0',
    '12345678901234',
    '１.00',
  ])
    it(`returns null for ${JSON.stringify(text)}`, () => {
      expect(parseAmountText(text)).to.equal(null);
    });
});
