import { expect } from 'chai';
import fc from 'fast-check';
import { AMOUNT_MAX, AMOUNT_MIN, type Minor, toMinor } from '../../domain/kernel/money.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { amountText, buildDynamicBrCode, crc16, foldToAscii } from '../../domain/pix/brCode.ts';
import { isEndToEndId, makeEndToEndId } from '../../domain/pix/ids.ts';
import { isCnpj, isCpf, taxIdOf } from '../../domain/pix/taxId.ts';
import { anyCharacter } from '../support/anyCharacter.ts';
import { parseAmountText } from '../support/pix/amountText.ts';
import { parseBrCode } from '../support/pix/brCodeParse.ts';
import { parseEndToEndId } from '../support/pix/endToEndId.ts';

const range = (from: number, to: number): string =>
  String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, i) => from + i));
const VISIBLE = range(0x21, 0x7e);
const DIGITS = range(0x30, 0x39);
const UPPER = DIGITS + range(0x41, 0x5a);
const ALPHANUMERIC = UPPER + range(0x61, 0x7a);

const textOf = (characters: string, minLength: number, maxLength = minLength): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength });
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  textOf('aé \u0301ßç', 0, 60),
);
const amount: fc.Arbitrary<Minor> = fc.integer({ min: AMOUNT_MIN, max: AMOUNT_MAX }).map(toMinor);
const given = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
/** Omits undefined fields, as exact optional properties require. */
const present = <T extends object>(parts: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as never;

const receiver = { merchantName: anyText, merchantCity: anyText, amount: given(amount) };
const url = textOf(VISIBLE, 1, 75)
  .map((tail) => `h${tail}`)
  .filter((text) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(text));
const dynamicParts = fc.record({ url, ...receiver });
const code = dynamicParts.map((parts) => buildDynamicBrCode(present(parts)));
const receiverOf = (parts: { merchantName: string; merchantCity: string; amount: Minor | undefined }) => ({
  amount: parts.amount ?? null,
  merchantName: foldToAscii(parts.merchantName, 25) || 'N',
  merchantCity: foldToAscii(parts.merchantCity, 15) || 'N',
  recurrenceUrl: null,
});

describe('properties of BR codes', () => {
  it('a dynamic code is parsed back into its parts', () => {
    fc.assert(
      fc.property(dynamicParts, (parts) => {
        const brCode = { kind: 'dynamic', reusable: false, url: parts.url, txid: null, ...receiverOf(parts) };
        expect(parseBrCode(buildDynamicBrCode(present(parts)))).to.deep.equal({ ok: true, brCode });
      }),
    );
  });

  it('a code is printable ASCII of at most 512 characters and ends with its checksum', () => {
    fc.assert(
      fc.property(code, (text) => {
        expect(text).to.match(/^[ -~]{1,512}$/);
        expect(text.slice(-8)).to.equal(`6304${crc16(text.slice(0, -4))}`);
      }),
    );
  });

  it('a code with any one character changed is rejected', () => {
    fc.assert(
      fc.property(code, fc.nat(), fc.constantFrom(...VISIBLE, ' '), (text, place, character) => {
        const at = place % text.length;
        fc.pre(text[at] !== character);
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        expect(parseBrCode(changed).ok).to.equal(false);
      }),
      { numRuns: 500 },
    );
  });

  it('parsing arbitrary text never throws', () => {
    const withChecksum = anyText.map((text) => `${text}6304${crc16(`${text}6304`)}`);
    fc.assert(
      fc.property(fc.oneof(anyText, withChecksum), (text) => {
        expect(parseBrCode(text).ok).to.equal(false);
      }),
    );
  });

  it('codes whose checksum needs padding exist and can be parsed', () => {
    const padded = Array.from({ length: 256 }, (_, i) =>
      buildDynamicBrCode({ url: `pix.example.com/${i}`, merchantName: 'N', merchantCity: 'C' }),
    ).filter((text) => text.at(-4) === '0');
    expect(padded.length).to.be.within(4, 40);
    expect(padded.filter((text) => !parseBrCode(text).ok)).to.deep.equal([]);
  });

  it('an amount survives a round trip through text', () => {
    fc.assert(
      fc.property(fc.maxSafeNat().map(toMinor), (minor) => {
        const text = amountText(minor);
        expect(text).to.match(/^(0|[1-9][0-9]*)\.[0-9]{2}$/);
        expect(BigInt(text.replace('.', ''))).to.equal(BigInt(minor));
        if (minor <= 999_999_999_999_999) expect(parseAmountText(text)).to.equal(minor);
      }),
    );
  });

  it('folding is idempotent', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 99 }), (text, max) => {
        const folded = foldToAscii(text, max);
        expect(folded).to.match(/^(?:[!-~](?:[ -~]*[!-~])?)?$/);
        expect(folded.length).to.be.at.most(max);
        expect(folded).to.not.include('  ');
        expect(foldToAscii(folded, max)).to.equal(folded);
      }),
    );
  });
});

/** Returns the weighted sum modulo 11, with weights as Receita Federal lists them. */
const mod11 = (text: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + (text.charCodeAt(i) - 48) * weight, 0) % 11;
const digitOf = (rest: number): string => String(rest < 2 ? 0 : 11 - rest);
const withCheckDigits = (body: string, first: readonly number[], second: readonly number[]): string => {
  const one = body + digitOf(mod11(body, first));
  return one + digitOf(mod11(one, second));
};
const CPF_WEIGHTS = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const cpf = textOf(DIGITS, 9).map((body) => withCheckDigits(body, CPF_WEIGHTS, [11, ...CPF_WEIGHTS]));
const cnpj = textOf(UPPER, 12).map((body) => withCheckDigits(body, CNPJ_WEIGHTS, [6, ...CNPJ_WEIGHTS]));
const isOneCharacter = (text: string): boolean => new Set(text).size === 1;
const otherDigit = (text: string, at: number, by: number): string =>
  text.slice(0, at) + String((Number(text[at]) + by) % 10) + text.slice(at + 1);

describe('properties of tax ids', () => {
  it('a CPF with right check digits is valid, masked or not, unless all digits are equal', () => {
    fc.assert(
      fc.property(cpf, (raw) => {
        expect(isCpf(raw)).to.equal(!isOneCharacter(raw));
        expect(isCnpj(raw)).to.equal(false);
        const masked = raw.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
        expect(taxIdOf(masked)).to.equal(isOneCharacter(raw) ? null : raw);
      }),
    );
  });

  it('a CNPJ with right check digits is valid, bare or masked in lower case, unless all characters are equal', () => {
    fc.assert(
      fc.property(cnpj, (raw) => {
        expect(isCnpj(raw)).to.equal(!isOneCharacter(raw));
        expect(isCpf(raw)).to.equal(false);
        const masked = raw.toLowerCase().replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');
        expect(taxIdOf(masked)).to.equal(isOneCharacter(raw) ? null : raw);
      }),
    );
  });

  const change = fc.record({ place: fc.nat(), by: fc.integer({ min: 1, max: 9 }) });

  it('a changed check digit makes a tax id invalid', () => {
    fc.assert(
      fc.property(cpf, cnpj, change, (aCpf, aCnpj, { place, by }) => {
        expect(isCpf(otherDigit(aCpf, 9 + (place % 2), by))).to.equal(false);
        expect(isCnpj(otherDigit(aCnpj, 12 + (place % 2), by))).to.equal(false);
      }),
    );
  });

  // A first check digit of 0 represents two remainders, 0 and 1, so only other digits reveal every wrong digit.
  it('a changed digit of the body makes a tax id invalid if the first check digit is not 0', () => {
    fc.assert(
      fc.property(cpf, textOf(DIGITS, 12), change, (aCpf, body, { place, by }) => {
        const aCnpj = withCheckDigits(body, CNPJ_WEIGHTS, [6, ...CNPJ_WEIGHTS]);
        fc.pre(aCpf[9] !== '0' && aCnpj[12] !== '0');
        expect(isCpf(otherDigit(aCpf, place % 9, by))).to.equal(false);
        expect(isCnpj(otherDigit(aCnpj, place % 12, by))).to.equal(false);
      }),
    );
  });
});

describe('properties of Pix ids', () => {
  const instant: fc.Arbitrary<Timestamp> = fc
    .integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2999, 11, 31) })
    .map(fromMillis);
  const parts = fc.record({ ispb: textOf(UPPER, 8), at: instant, suffix: textOf(ALPHANUMERIC, 11) });

  it('an end-to-end id is parsed back into its parts, with the time cut to the minute', () => {
    fc.assert(
      fc.property(parts, (made) => {
        const id = makeEndToEndId(made);
        expect(isEndToEndId(id)).to.equal(true);
        expect(parseEndToEndId(id)).to.deep.equal({ ...made, at: `${made.at.slice(0, 16)}:00.000Z` });
        expect(makeEndToEndId(parseEndToEndId(id)!)).to.equal(id);
      }),
    );
  });
});
