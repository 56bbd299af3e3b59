import { expect } from 'chai';
import fc from 'fast-check';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { type MultibancoTerms, multibancoReference } from '../../../domain/methods/multibanco.ts';
import { isMultibancoReference } from '../../support/multibancoReference.ts';

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((list) => list.join(''));
const terms: fc.Arbitrary<MultibancoTerms> = fc.record({
  entity: digits(5),
  subEntityAndNumber: digits(7),
  amount: fc.integer({ min: 1, max: 99_999_999 }).map(toMinor),
});
/** Returns every text that differs from `text` in one digit. */
const neighbours = (text: string) =>
  Array.from(text).flatMap((own, place) =>
    Array.from('0123456789')
      .filter((digit) => digit !== own)
      .map((digit) => text.slice(0, place) + digit + text.slice(place + 1)),
  );
/** Returns every text with two different adjacent digits swapped. */
const swaps = (text: string) =>
  Array.from(text.slice(1)).flatMap((right, i) =>
    right === text[i] ? [] : [text.slice(0, i) + right + text[i] + text.slice(i + 2)],
  );
/** Takes 22 digits: entity, number, amount, check digits. */
const isTaken = (all: string) =>
  isMultibancoReference(all.slice(0, 5), all.slice(5, 12) + all.slice(20), toMinor(Number(all.slice(12, 20))));

// Published by Miguel-Frazao/sibs-check-digits-php-python, which uses the weights of SIBS.
const published: MultibancoTerms = { entity: '90150', subEntityAndNumber: '1231234', amount: toMinor(43_211) };

describe('Multibanco reference', () => {
  it('matches the published example', () => {
    expect(multibancoReference(published)).to.equal('123123451');
    expect(isMultibancoReference('90150', '123123451', toMinor(43_211))).to.equal(true);
  });

  it('is deterministic, and other terms give another reference', () => {
    expect(multibancoReference({ ...published })).to.equal(multibancoReference(published));
    for (const other of [{ entity: '90151' }, { subEntityAndNumber: '1231235' }, { amount: toMinor(43_212) }])
      expect(multibancoReference({ ...published, ...other })).to.not.equal('123123451');
  });

  it('keeps leading zeros', () => {
    const reference = multibancoReference({ entity: '00000', subEntityAndNumber: '0000000', amount: toMinor(1) });
    expect(reference).to.equal('000000095');
  });

  it('supports the smallest and the largest amount', () => {
    for (const amount of [1, 99_999_999].map(toMinor))
      expect(isMultibancoReference('90150', multibancoReference({ ...published, amount }), amount)).to.equal(true);
  });

  for (const [what, other] of [
    ['an entity of 4 digits', { entity: '9015' }],
    ['an entity of 6 digits', { entity: '901500' }],
    ['an entity with a letter', { entity: '9015a' }],
    ['a number of 6 digits', { subEntityAndNumber: '123123' }],
    ['a number of 8 digits', { subEntityAndNumber: '12312345' }],
    ['digits of another script', { subEntityAndNumber: '١٢٣١٢٣٤' }],
    ['no amount', { amount: toMinor(0) }],
    ['a negative amount', { amount: toMinor(-43_211) }],
    ['half a cent', { amount: 1.5 as Minor }],
    ['an amount of nine digits', { amount: toMinor(100_000_000) }],
  ] as const)
    it(`rejects ${what}`, () => {
      const asked = { ...published, ...other };
      expect(() => multibancoReference(asked)).to.throw(RangeError);
      expect(isMultibancoReference(asked.entity, `${asked.subEntityAndNumber}51`, asked.amount)).to.equal(false);
    });

  for (const reference of ['12312345', '1231234510', '123 123 451', '123123451\n', '', '12312345a'])
    it(`rejects the reference ${JSON.stringify(reference)}`, () => {
      expect(isMultibancoReference('90150', reference, toMinor(43_211))).to.equal(false);
    });
});

describe('laws of Multibanco references', () => {
  it('the 22 digits are 1 modulo 97, and the check digits are between 02 and 98', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const reference = multibancoReference(given);
        const check = Number(reference.slice(7));
        const all =
          given.entity + given.subEntityAndNumber + String(given.amount).padStart(8, '0') + reference.slice(7);
        expect([reference.slice(0, 7), BigInt(all) % 97n]).to.deep.equal([given.subEntityAndNumber, 1n]);
        expect(check).to.be.within(2, 98);
        expect(isMultibancoReference(given.entity, reference, given.amount)).to.equal(true);
      }),
    );
  });

  it('exactly one pair of check digits is valid', () => {
    fc.assert(
      fc.property(terms, ({ entity, subEntityAndNumber, amount }) => {
        const all = Array.from({ length: 100 }, (_, i) => subEntityAndNumber + String(i).padStart(2, '0'));
        expect(all.filter((reference) => isMultibancoReference(entity, reference, amount))).to.deep.equal([
          multibancoReference({ entity, subEntityAndNumber, amount }),
        ]);
      }),
    );
  });

  it('one changed digit or two swapped neighbors in the 22 digits are detected', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const reference = multibancoReference(given);
        const all =
          given.entity + given.subEntityAndNumber + String(given.amount).padStart(8, '0') + reference.slice(7);
        expect([...neighbours(all), ...swaps(all)].filter(isTaken)).to.deep.equal([]);
        expect(isTaken(all)).to.equal(true);
      }),
    );
  });
});
