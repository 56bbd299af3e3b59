import { expect } from 'chai';
import { crc16, encodeTlv } from '../../../domain/pix/brCode.ts';
import { parseAmountText } from '../../support/pix/amountText.ts';
import { type BrCode, parseBrCode } from '../../support/pix/brCodeParse.ts';
import { type BrCodeVector, brCodeVectors } from './vectors.ts';

/** The reason for rejecting each vector that can’t be paid by Pix. */
const REFUSED: Readonly<Record<string, string>> = {
  'naomijub-spi': 'no account information of br.gov.bcb.pix',
  'stone-NEG-https-url': 'location is malformed',
  'gist-static-phone': 'wrong checksum (63)',
  'butils-NEG-pfi-02': 'payload format (00) is not 01',
  'butils-NEG-currency-840': 'currency (53) is not 986',
  'butils-NEG-no-mcc': 'merchant category (52) is not four digits',
  'butils-NEG-no-city': 'merchant city (60) is not 1 to 15 characters',
  'butils-NEG-no-key-no-url': 'neither key nor location',
  'butils-NEG-key-and-url': 'both key and location',
  'butils-NEG-url-space': 'location is malformed',
};

/** Returns the expected result for a valid vector, derived from its own fields and templates. */
const expectedOf = ({ tlv, sub }: BrCodeVector): BrCode => {
  const field = (id: string): string | undefined => new Map(tlv).get(id);
  const inside = (id: string, part: string): string | undefined => new Map(sub[id]).get(part);
  const common = {
    reusable: field('01') !== '12',
    amount: field('54') === undefined ? null : parseAmountText(field('54')!),
    merchantName: field('59')!,
    merchantCity: field('60')!,
    txid: inside('62', '05') === '***' ? null : inside('62', '05')!,
    recurrenceUrl: inside('80', '00') === 'br.gov.bcb.pix' ? inside('80', '25')! : null,
  };
  const url = inside('26', '25');
  if (url !== undefined) return { kind: 'dynamic', url, ...common };
  return { kind: 'static', key: inside('26', '01')!, description: inside('26', '02') ?? null, ...common };
};

/** Returns the kind of a parsed code in the vectors’ terms. */
const kindOf = (brCode: BrCode, { tlv }: BrCodeVector): string => {
  if (tlv.filter(([id]) => id >= '26' && id <= '51').length > 1) return 'multi-arrangement';
  return brCode.kind + (brCode.recurrenceUrl === null ? '' : '+rec');
};

type Fields = readonly (readonly [string, string])[];
const GOOD: Fields = [
  ['00', '01'],
  ['26', '0014br.gov.bcb.pix0107a@b.com'],
  ['52', '0000'],
  ['53', '986'],
  ['54', '1.00'],
  ['58', 'BR'],
  ['59', 'Name'],
  ['60', 'City'],
  ['62', '0503abc'],
];
const codeOf = (fields: Fields): string => {
  const body = `${fields.map(([id, value]) => encodeTlv(id, value)).join('')}6304`;
  return body + crc16(body);
};
/** Returns the code of GOOD with these fields changed, in ascending order. Null removes a field. */
const variant = (changes: Readonly<Record<string, string | null>>): string => {
  const fields = new Map<string, string | null>([...GOOD, ...Object.entries(changes)]);
  const kept = [...fields].flatMap(([id, value]) => (value === null ? [] : [[id, value] as const]));
  return codeOf(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
};
const reasonOf = (code: string): string => {
  const parsed = parseBrCode(code);
  return parsed.ok ? 'accepted' : parsed.reason;
};

describe('parseBrCode', () => {
  for (const vector of brCodeVectors)
    if (vector.id in REFUSED)
      it(`rejects ${vector.id}`, () => {
        expect(parseBrCode(vector.code)).to.deep.equal({ ok: false, reason: REFUSED[vector.id] });
      });
    else
      it(`parses ${vector.id}`, () => {
        const parsed = parseBrCode(vector.code);
        expect(parsed).to.deep.equal({ ok: true, brCode: expectedOf(vector) });
        if (parsed.ok && vector.kind !== undefined) expect(kindOf(parsed.brCode, vector)).to.equal(vector.kind);
        expect(parseBrCode(vector.code)).to.deep.equal(parsed);
      });

  it('rejects exactly the vectors that are negative or not Pix', () => {
    const negative = brCodeVectors.filter(({ kind }) => kind === 'negative' || kind === 'crc-only');
    expect(negative.map(({ id }) => id).sort()).to.deep.equal(Object.keys(REFUSED).sort());
  });

  it('returns every field of a static code', () => {
    expect(parseBrCode(codeOf(GOOD))).to.deep.equal({
      ok: true,
      brCode: {
        kind: 'static',
        reusable: true,
        key: 'a@b.com',
        description: null,
        amount: 100,
        merchantName: 'Name',
        merchantCity: 'City',
        txid: 'abc',
        recurrenceUrl: null,
      },
    });
  });

  it('parses accents, with lengths in characters and the checksum over UTF-8', () => {
    const parsed = parseBrCode(variant({ '59': 'é'.repeat(25), '60': 'São \u{1f4b8}' }));
    expect(parsed.ok && [parsed.brCode.merchantName, parsed.brCode.merchantCity]).to.deep.equal([
      'é'.repeat(25),
      'São \u{1f4b8}',
    ]);
  });

  const GUI = '0014br.gov.bcb.pix';
  for (const [what, code, reason] of [
    ['another category than 0000', variant({ '52': '5411' }), 'accepted'],
    ['point of initiation 13', variant({ '01': '13' }), 'point of initiation (01) is neither 11 nor 12'],
    ['no payload format', variant({ '00': null }), 'payload format (00) is not 01'],
    ['a category of letters', variant({ '52': '00A0' }), 'merchant category (52) is not four digits'],
    ['no currency', variant({ '53': null }), 'currency (53) is not 986'],
    ['country PT', variant({ '58': 'PT' }), 'country (58) is not BR'],
    ['no name', variant({ '59': null }), 'merchant name (59) is not 1 to 25 characters'],
    ['a name of 26', variant({ '59': 'n'.repeat(26) }), 'merchant name (59) is not 1 to 25 characters'],
    ['a city of 16', variant({ '60': 'c'.repeat(16) }), 'merchant city (60) is not 1 to 15 characters'],
    ['an amount of zero', variant({ '54': '0.00' }), 'amount (54) is not an amount'],
    ['an amount with a comma', variant({ '54': '1,00' }), 'amount (54) is not an amount'],
    ['an amount of 14 characters', variant({ '54': '10000000000.00' }), 'amount (54) is not an amount'],
    ['an amount of 13 characters', variant({ '54': '9999999999.99' }), 'accepted'],
    ['no account', variant({ '26': null }), 'no account information of br.gov.bcb.pix'],
    ['an account in field 51', variant({ '26': null, '51': `${GUI}0107a@b.com` }), 'accepted'],
    ['two accounts', variant({ '27': `${GUI}0107a@b.com` }), 'br.gov.bcb.pix twice'],
    ['an account without GUI', variant({ '27': '0107a@b.com' }), 'a template (26 to 51, 80 to 99) is malformed'],
    ['an account that is not TLV', variant({ '27': 'text' }), 'a template (26 to 51, 80 to 99) is malformed'],
    [
      'a key cut off by its template',
      variant({ '26': `${GUI}0178${'k'.repeat(77)}` }),
      'a template (26 to 51, 80 to 99) is malformed',
    ],
    ['a key with a space', variant({ '26': `${GUI}0103a b` }), 'key is malformed'],
    ['a short ISPB', variant({ '26': `${GUI}0107a@b.com0303123` }), 'ISPB is malformed'],
    ['an ISPB', variant({ '26': `${GUI}0107a@b.com030812345678` }), 'accepted'],
    ['no field 62', variant({ '62': null }), 'no txid (62-05)'],
    ['no txid in 62', variant({ '62': '0103abc' }), 'no txid (62-05)'],
    ['a field 62 that is not TLV', variant({ '62': 'abc' }), 'no txid (62-05)'],
    ['a txid of 26', variant({ '62': `0526${'x'.repeat(26)}` }), 'txid (62-05) is malformed'],
    ['a txid with a space', variant({ '62': '0503a b' }), 'txid (62-05) is malformed'],
    ['**', variant({ '62': '0502**' }), 'txid (62-05) is malformed'],
    ['a txid beside a location', variant({ '26': `${GUI}2503h/x` }), 'txid (62-05) of a dynamic code is not ***'],
    ['*** beside a location', variant({ '26': `${GUI}2503h/x`, '62': '0503***' }), 'accepted'],
    ['a recurrence without location', variant({ '80': GUI }), 'recurrence location is malformed'],
    ['two recurrences', variant({ '80': `${GUI}2503h/x`, '81': `${GUI}2503h/x` }), 'br.gov.bcb.pix twice'],
    ['a second checksum', variant({ '63': 'ABCD' }), 'a second checksum (63)'],
    ['a repeated field', codeOf([...GOOD.slice(0, 8), ...GOOD.slice(7)]), 'not made of fields with ascending ids'],
    ['descending fields', codeOf([...GOOD].reverse()), 'not made of fields with ascending ids'],
    ['512 characters', variant({ '64': 'x'.repeat(99), '65': 'x'.repeat(99), '66': 'x'.repeat(99) }), 'accepted'],
    ['no fields', codeOf([]), 'not made of fields with ascending ids'],
    ['an empty text', '', 'no checksum (63) at the end'],
    ['a line break behind', `${codeOf(GOOD)}\n`, 'characters that no code has'],
    ['a space before', ` ${codeOf(GOOD)}`, 'wrong checksum (63)'],
    ['a NUL inside', variant({ '59': 'a\u0000b' }), 'characters that no code has'],
    ['half a character', variant({ '59': 'a\ud800b' }), 'characters that no code has'],
    ['a checksum in lower case', `${codeOf(GOOD).slice(0, -4)}abcd`, 'no checksum (63) at the end'],
  ] as const)
    it(`returns "${reason}" for ${what}`, () => {
      expect(reasonOf(code)).to.equal(reason);
    });

  it('accepts 512 characters and rejects 513', () => {
    const filled = (last: number): string =>
      variant({ '64': 'x'.repeat(99), '65': 'x'.repeat(99), '66': 'x'.repeat(99), '67': 'x'.repeat(last) });
    const rest = 512 - filled(1).length + 1;
    expect([filled(rest).length, reasonOf(filled(rest))]).to.deep.equal([512, 'accepted']);
    expect([filled(rest + 1).length, reasonOf(filled(rest + 1))]).to.deep.equal([513, 'longer than 512 characters']);
  });
});
