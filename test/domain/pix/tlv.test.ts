import { expect } from 'chai';
import { encodeTlv } from '../../../domain/pix/brCode.ts';
import { parseAscendingTlv, parseTlv } from '../../support/pix/tlv.ts';
import { brCodeVectors } from './vectors.ts';

const pairs = (text: string): [string, string][] | undefined => parseTlv(text)?.map(({ id, value }) => [id, value]);

describe('encodeTlv', () => {
  it('writes id, length and value', () => {
    expect(encodeTlv('59', 'Fulano de Tal')).to.equal('5913Fulano de Tal');
    expect(encodeTlv('00', 'x'.repeat(99))).to.equal(`0099${'x'.repeat(99)}`);
    expect(encodeTlv('60', 'Ação \u{1f4b8}')).to.equal('6006Ação \u{1f4b8}');
  });

  for (const [id, value] of [
    ['59', ''],
    ['59', 'x'.repeat(100)],
    ['5', 'x'],
    ['5a', 'x'],
    ['591', 'x'],
    ['', 'x'],
  ] as const)
    it(`rejects the id "${id}" with ${value.length} characters`, () => {
      expect(() => encodeTlv(id, value)).to.throw(RangeError);
    });
});

describe('parseTlv', () => {
  for (const { id, code, tlv, sub, tlv_ok } of brCodeVectors)
    it(`parses the fields and templates of ${id}`, () => {
      expect(pairs(code) !== undefined).to.equal(tlv_ok);
      expect(pairs(code)).to.deep.equal(tlv);
      const templates = tlv.filter(([field]) => field in sub).map(([field, value]) => [field, pairs(value)]);
      expect(Object.fromEntries(templates)).to.deep.equal(sub);
    });

  it('keeps the order and repeated ids', () => {
    expect(pairs('6001b5901a5901c')).to.deep.equal([
      ['60', 'b'],
      ['59', 'a'],
      ['59', 'c'],
    ]);
  });

  it('counts characters, not bytes or UTF-16 units', () => {
    expect(pairs('5902\u{1f4b8}é6001a')).to.deep.equal([
      ['59', '\u{1f4b8}é'],
      ['60', 'a'],
    ]);
  });

  it('returns no fields for an empty text', () => {
    expect(parseTlv('')).to.deep.equal([]);
  });

  for (const text of ['5', '59', '590', '5900', '5902a', '5901ab', '5a01a', '590xa', '59-1a', ' 5901a', '５９01a'])
    it(`returns null for "${text}"`, () => {
      expect(parseTlv(text)).to.equal(null);
    });
});

describe('parseAscendingTlv', () => {
  it('returns the fields by id', () => {
    expect(parseAscendingTlv('0001a5901b')).to.deep.equal(
      new Map([
        ['00', 'a'],
        ['59', 'b'],
      ]),
    );
  });

  for (const [what, text] of [
    ['an empty text', ''],
    ['a repeated id', '5901a5901b'],
    ['a descending id', '6001a5901b'],
    ['malformed TLV', '5902a'],
  ] as const)
    it(`rejects ${what}`, () => {
      expect(parseAscendingTlv(text)).to.equal(null);
    });
});
