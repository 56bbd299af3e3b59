import { expect } from 'chai';
import { isEndToEndId, makeEndToEndId, makeReturnId } from '../../../domain/pix/ids.ts';
import { isReturnId, parseEndToEndId, parseReturnId } from '../../support/pix/endToEndId.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { endToEndVectors } from './vectors.ts';

const parts = { ispb: '12345678', at: parseTimestamp('2020-09-09T12:21:59.999Z'), suffix: 'abcdef12345' };
const atMinute = { ...parts, at: parseTimestamp('2020-09-09T12:21:00.000Z') };

describe('end-to-end ids', () => {
  const strict = new RegExp(endToEndVectors.regex);
  for (const { v, strict: expected } of endToEndVectors.vectors)
    it(`${expected ? 'accept' : 'reject'} ${v}`, () => {
      expect(strict.test(v)).to.equal(expected);
      expect(isEndToEndId(v)).to.equal(expected && v.startsWith('E'));
      expect(isReturnId(v)).to.equal(expected && v.startsWith('D'));
    });

  it('are built from their parts, to the minute', () => {
    expect(makeEndToEndId(parts)).to.equal('E12345678202009091221abcdef12345');
    expect(makeReturnId(parts)).to.equal('D12345678202009091221abcdef12345');
    expect(makeEndToEndId({ ...parts, ispb: 'A1B2C3D4' })).to.equal('EA1B2C3D4202009091221abcdef12345');
  });

  it('are deterministic, and other parts give another id', () => {
    expect(makeEndToEndId(parts)).to.equal(makeEndToEndId({ ...parts }));
    expect(makeEndToEndId({ ...parts, suffix: 'ABCDEF12345' })).to.not.equal(makeEndToEndId(parts));
  });

  it('are parsed back into their parts', () => {
    expect(parseEndToEndId(makeEndToEndId(parts))).to.deep.equal(atMinute);
    expect(parseReturnId(makeReturnId(parts))).to.deep.equal(atMinute);
  });

  it('distinguish payments from returns', () => {
    expect([parseReturnId(makeEndToEndId(parts)), parseEndToEndId(makeReturnId(parts))]).to.deep.equal([null, null]);
  });

  it('accept a leap day', () => {
    expect(isEndToEndId('E12345678202402292359abcdef12345')).to.equal(true);
  });

  for (const [what, text] of [
    ['a lower-case letter', 'e12345678202009091221abcdef12345'],
    ['a lower-case ISPB', 'E1234567a202009091221abcdef12345'],
    ['a 13th month', 'E12345678202013091221abcdef12345'],
    ['a month 00', 'E12345678202000091221abcdef12345'],
    ['30 February', 'E12345678202602301221abcdef12345'],
    ['29 February of a common year', 'E12345678202602291221abcdef12345'],
    ['31 April', 'E12345678202604311221abcdef12345'],
    ['hour 24', 'E12345678202009092400abcdef12345'],
    ['minute 60', 'E12345678202009091260abcdef12345'],
    ['31 characters', 'E12345678202009091221abcdef1234'],
    ['33 characters', 'E12345678202009091221abcdef123456'],
    ['a line break', 'E12345678202009091221abcdef12345\n'],
    ['full-width digits', 'E１2345678202009091221abcdef12345'],
    ['an empty text', ''],
  ] as const)
    it(`reject ${what}`, () => {
      expect([isEndToEndId(text), parseEndToEndId(text)]).to.deep.equal([false, null]);
      const asReturn = text.replace(/^E/, 'D');
      expect([isReturnId(asReturn), parseReturnId(asReturn)]).to.deep.equal([false, null]);
    });

  for (const [what, wrong] of [
    ['a short ISPB', { ispb: '1234567' }],
    ['a lower-case ISPB', { ispb: '1234567a' }],
    ['a short suffix', { suffix: 'abcdef1234' }],
    ['a suffix with a mark', { suffix: 'abcdef1234-' }],
    ['30 February', { at: '2026-02-30T12:00:00.000Z' as typeof parts.at }],
    ['another form of time', { at: '2026-02-20' as typeof parts.at }],
  ] as const)
    it(`can’t be built from ${what}`, () => {
      expect(() => makeEndToEndId({ ...parts, ...wrong })).to.throw(RangeError);
      expect(() => makeReturnId({ ...parts, ...wrong })).to.throw(RangeError);
    });
});
