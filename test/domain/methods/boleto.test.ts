import { expect } from 'chai';
import fc from 'fast-check';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import {
  type BoletoTerms,
  boletoBarcode,
  dueFactor,
  isBoletoBarcode,
  lineOfBarcode,
} from '../../../domain/methods/boleto.ts';
import { barcodeOfLine, isBoletoLine } from '../../support/boletoLine.ts';

/** Example boletos from public documentation. */
const PUBLISHED: readonly (BoletoTerms & { readonly what: string; readonly barcode: string; readonly line: string })[] =
  [
    {
      what: 'Banco do Brasil, R$ 1.00 (ewally coding challenge)',
      bank: '001',
      dueDate: '2007-12-31',
      amount: toMinor(100),
      freeField: '0500940144816060680935031',
      barcode: '00193373700000001000500940144816060680935031',
      line: '00190500954014481606906809350314337370000000100',
    },
    {
      what: 'Itaú, R$ 1,000.00 (boleto-utils README)',
      bank: '341',
      dueDate: '2019-05-31',
      amount: toMinor(100_000),
      freeField: '2220000005566385101214000',
      barcode: '34196790600001000002220000005566385101214000',
      line: '34192220090000556638551012140003679060000100000',
    },
    {
      what: 'Bradesco, R$ 1,240.20 (boleto-utils README)',
      bank: '237',
      dueDate: '2008-11-01',
      amount: toMinor(124_020),
      freeField: '0448056168623793601105800',
      barcode: '23797404300001240200448056168623793601105800',
      line: '23790448095616862379336011058009740430000124020',
    },
  ];
/** Lines that were published without a barcode. */
const PUBLISHED_LINES = [
  '42297115040000195441160020034520268610000054659', // Tagliatti/Boleto-Validator-PHP
  '21290001192110001210904475617405975870000002000',
];

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((list) => list.join(''));
const instant = (day: string) => Date.parse(`${day}T00:00:00.000Z`);
const terms: fc.Arbitrary<BoletoTerms> = fc.record({
  bank: digits(3),
  dueDate: fc
    .integer({ min: instant('2000-07-03'), max: instant('2100-01-01') })
    .map((millis) => fromMillis(millis).slice(0, 10)),
  amount: fc.integer({ min: 1, max: 9_999_999_999 }).map(toMinor),
  freeField: digits(25),
});
const withDigit = (text: string, place: number, digit: number) => text.slice(0, place) + digit + text.slice(place + 1);
/** Returns every text that differs from `text` in one digit, with the position of that digit. */
const neighbours = (text: string) =>
  Array.from(text).flatMap((own, place) =>
    Array.from({ length: 10 }, (_, digit) => digit)
      .filter((digit) => String(digit) !== own)
      .map((digit) => ({ place, text: withDigit(text, place, digit) })),
  );
/** Returns the remainder modulo 11 of the 43 digits without the check digit. Reimplemented here, independently of the code. */
const restOf = (barcode: string) =>
  Array.from(barcode.slice(0, 4) + barcode.slice(5))
    .reverse()
    .reduce((sum, digit, i) => sum + Number(digit) * [2, 3, 4, 5, 6, 7, 8, 9][i % 8]!, 0) % 11;
const base = PUBLISHED[0]!;

describe('boleto', () => {
  for (const { what, barcode, line, ...given } of PUBLISHED)
    it(`returns the published barcode and line of ${what}`, () => {
      expect(boletoBarcode(given)).to.equal(barcode);
      expect(lineOfBarcode(barcode)).to.equal(line);
      expect(barcodeOfLine(line)).to.equal(barcode);
      expect([isBoletoBarcode(barcode), isBoletoLine(line)]).to.deep.equal([true, true]);
    });

  for (const line of PUBLISHED_LINES)
    it(`accepts the published line ${line}`, () => {
      expect(isBoletoLine(line)).to.equal(true);
      expect(lineOfBarcode(barcodeOfLine(line))).to.equal(line);
    });

  it('is deterministic, and other terms give another barcode', () => {
    expect(boletoBarcode({ ...base })).to.equal(boletoBarcode(base));
    for (const other of [
      { bank: '002' },
      { dueDate: '2008-01-01' },
      { amount: toMinor(101) },
      { freeField: `1${base.freeField.slice(1)}` },
    ])
      expect(boletoBarcode({ ...base, ...other })).to.not.equal(base.barcode);
  });

  for (const [day, factor] of [
    ['2000-07-03', 1000],
    ['2000-07-05', 1002],
    ['2002-05-01', 1667],
    ['2010-11-17', 4789],
    ['2012-04-27', 5316],
    ['2025-02-20', 9998],
    ['2025-02-21', 9999],
    ['2025-02-22', 1000],
    ['2025-02-23', 1001],
    ['2049-10-13', 9999],
    ['2049-10-14', 1000],
  ] as const)
    it(`uses the due date factor ${factor} for ${day}`, () => {
      expect(dueFactor(day)).to.equal(factor);
      expect(boletoBarcode({ ...base, dueDate: day }).slice(5, 9)).to.equal(String(factor));
    });

  for (const [what, other] of [
    ['a day before the factor had four digits', { dueDate: '2000-07-02' }],
    ['a day that does not exist', { dueDate: '2026-02-29' }],
    ['a bank code of two digits', { bank: '99' }],
    ['a bank code with a letter', { bank: '99a' }],
    ['a free field of 24 digits', { freeField: '0'.repeat(24) }],
    ['a free field of 26 digits', { freeField: '0'.repeat(26) }],
    ['digits of another script', { freeField: '٠'.repeat(25) }],
    ['no amount', { amount: toMinor(0) }],
    ['a negative amount', { amount: toMinor(-1) }],
    ['half a centavo', { amount: 1.5 as Minor }],
    ['an amount of eleven digits', { amount: toMinor(10_000_000_000) }],
  ] as const)
    it(`rejects ${what}`, () => {
      expect(() => boletoBarcode({ ...base, ...other })).to.throw(RangeError);
    });

  it('supports the largest amount', () => {
    expect(boletoBarcode({ ...base, amount: toMinor(9_999_999_999) }).slice(9, 19)).to.equal('9999999999');
  });

  for (const [what, barcode] of [
    ['43 digits', base.barcode.slice(1)],
    ['45 digits', `${base.barcode}0`],
    ['a line', base.line],
    ['a mark', base.barcode.replace('5', '.')],
    ['a line break at the end', `${base.barcode}\n`],
    ['no text', ''],
    ['another currency', `0018${base.barcode.slice(4)}`],
  ] as const)
    it(`rejects ${what} as a barcode`, () => {
      expect(isBoletoBarcode(barcode)).to.equal(false);
      expect(() => lineOfBarcode(barcode)).to.throw(RangeError, barcode);
    });

  for (const [what, line] of [
    ['46 digits', base.line.slice(1)],
    ['48 digits', `${base.line}0`],
    ['a barcode', base.barcode],
    ['a line with marks', '00190.50095 40144.816069 06809.350314 3 37370000000100'],
    ['a line break at the end', `${base.line}\n`],
    ['no text', ''],
  ] as const)
    it(`rejects ${what} as a line`, () => {
      expect(isBoletoLine(line)).to.equal(false);
      expect(() => barcodeOfLine(line)).to.throw(RangeError, line);
    });
});

describe('laws of boletos', () => {
  it('a barcode contains its terms, and its line converts back to it', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const barcode = boletoBarcode(given);
        expect(isBoletoBarcode(barcode)).to.equal(true);
        expect(barcode[4]).to.match(/^[1-9]$/);
        expect(barcode.slice(0, 4) + barcode.slice(5)).to.equal(
          `${given.bank}9${dueFactor(given.dueDate)}${String(given.amount).padStart(10, '0')}${given.freeField}`,
        );
        const line = lineOfBarcode(barcode);
        expect([isBoletoLine(line), barcodeOfLine(line)]).to.deep.equal([true, barcode]);
      }),
    );
  });

  // The remainders 0, 1 and 10 share the check digit 1, so the algorithm can’t distinguish them. It must detect every other change.
  it('a barcode with one changed digit is rejected, except where remainders share the check digit 1', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const barcode = boletoBarcode(given);
        const blind = [0, 1, 10];
        const taken = neighbours(barcode).filter(({ text }) => isBoletoBarcode(text));
        const expected = neighbours(barcode).filter(
          ({ place, text }) =>
            place !== 3 && place !== 4 && blind.includes(restOf(barcode)) && blind.includes(restOf(text)),
        );
        expect(taken).to.deep.equal(expected);
        if (barcode[4] !== '1') expect(taken).to.deep.equal([]);
      }),
      { numRuns: 50 },
    );
  });

  it('a line with one changed digit in its first three fields is rejected', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const line = lineOfBarcode(boletoBarcode(given));
        expect(neighbours(line).filter(({ place, text }) => place < 32 && isBoletoLine(text))).to.deep.equal([]);
      }),
      { numRuns: 50 },
    );
  });
});
