import { expect } from 'chai';
import { AMOUNT_MAX, toMinor } from '../../../domain/kernel/money.ts';
import { buildDynamicBrCode, buildStaticBrCode } from '../../../domain/pix/brCode.ts';
import { parseBrCode } from '../../../domain/pix/brCodeParse.ts';
import { brCodeVectors } from './vectors.ts';

const vector = (id: string): string => brCodeVectors.find((candidate) => candidate.id === id)!.code;

const dynamic = {
  url: 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441',
  merchantName: 'Fulano de Tal',
  merchantCity: 'BRASILIA',
};
const fixed = { key: '123e4567-e12b-12d1-a456-426655440000', merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' };

describe('buildDynamicBrCode', () => {
  it("writes the central bank's example", () => {
    expect(buildDynamicBrCode(dynamic)).to.equal(vector('bacen-dynamic'));
    expect(buildDynamicBrCode(dynamic)).to.equal(vector('bacen-dynamic'));
  });

  it('writes another location as another code', () => {
    expect(buildDynamicBrCode({ ...dynamic, url: `${dynamic.url}0` })).to.not.equal(vector('bacen-dynamic'));
  });

  it("writes Stone's example with an amount", () => {
    const code = buildDynamicBrCode({
      url: 'exemplodeurl.com.br/pix/v2/11111111-1111-1111-1111-111111111111',
      merchantName: 'TESTE DE TESTE DO TESTEIE',
      merchantCity: 'RIO DE JANEIRO',
      amount: toMinor(1),
    });
    expect(code).to.equal(vector('stone-dynamic-with-amount'));
  });

  it('folds and cuts name and city', () => {
    const code = buildDynamicBrCode({
      ...dynamic,
      merchantName: ' Açaí da Conceição \u{1f347} Comércio e Serviços Ltda',
      merchantCity: 'São Miguel do Oeste',
    });
    expect(code).to.include('5925Acai da Conceicao Comerci6015Sao Miguel do O6207');
  });

  it('writes N for a name or city of which nothing is left', () => {
    expect(buildDynamicBrCode({ ...dynamic, merchantName: '東京', merchantCity: ' ' })).to.include('5901N6001N6207');
  });

  it('writes the greatest amount of a charge', () => {
    expect(buildDynamicBrCode({ ...dynamic, amount: toMinor(AMOUNT_MAX) })).to.include('5412999999999.995802BR');
  });

  it('takes a location of 77 characters and a local one with a port', () => {
    const url = `h.example/${'x'.repeat(67)}`;
    expect(buildDynamicBrCode({ ...dynamic, url })).to.include(`26990014${'br.gov.bcb.pix'}2577${url}5204`);
    expect(buildDynamicBrCode({ ...dynamic, url: 'localhost:3000/pay/x' })).to.include('2520localhost:3000/pay/x');
  });

  for (const [what, url] of [
    ['78 characters', `h.example/${'x'.repeat(68)}`],
    ['nothing', ''],
    ['a scheme', 'https://pix.example.com/x'],
    ['an upper-case scheme', 'HTTP://pix.example.com/x'],
    ['a relative scheme', '//pix.example.com/x'],
    ['a space', 'pix.example.com/x y'],
    ['a line break', 'pix.example.com/x\n'],
    ['an accent', 'pix.example.com/é'],
  ] as const)
    it(`refuses a location with ${what}`, () => {
      expect(() => buildDynamicBrCode({ ...dynamic, url })).to.throw(RangeError);
    });

  for (const amount of [0, -1, 1_000_000_000_000])
    it(`refuses the amount ${amount}`, () => {
      expect(() => buildDynamicBrCode({ ...dynamic, amount: toMinor(amount) })).to.throw(RangeError);
    });
});

describe('buildStaticBrCode', () => {
  it("writes the central bank's example", () => {
    expect(buildStaticBrCode(fixed)).to.equal(vector('bacen-static-evp'));
    expect(buildStaticBrCode({ ...fixed, txid: '***', description: ' ' })).to.equal(vector('bacen-static-evp'));
  });

  it("writes Stark's example with amount and txid", () => {
    const code = buildStaticBrCode({
      key: 'arya@stark.com',
      merchantName: 'Arya Stark with a very long name',
      merchantCity: 'Pindamonhangaba do Norte',
      amount: toMinor(12_500),
      txid: 'verylongreconciliationidt',
    });
    expect(code).to.equal(vector('stark-static-truncated-25-15-25'));
  });

  it('writes the example of pixae with a description', () => {
    const code = buildStaticBrCode({
      key: 'saskenuba@gmail.com',
      merchantName: 'Pix',
      merchantCity: 'Pix',
      amount: toMinor(5_000),
      description: '[Pix.ae]',
    });
    expect(code).to.equal(vector('rust-pixae'));
  });

  it('folds the description and cuts it to the room that the key leaves', () => {
    const code = buildStaticBrCode({ ...fixed, description: `Çã${'x'.repeat(100)}` });
    expect(code).to.include(`26990014br.gov.bcb.pix0136${fixed.key}0237Ca${'x'.repeat(35)}5204`);
  });

  it('leaves the description out when the key leaves no room', () => {
    for (const length of [73, 74, 77]) {
      const code = buildStaticBrCode({ ...fixed, key: 'k'.repeat(length), description: 'note' });
      expect(code).to.equal(buildStaticBrCode({ ...fixed, key: 'k'.repeat(length) }));
    }
    const key = 'k'.repeat(72);
    expect(buildStaticBrCode({ ...fixed, key, description: 'note' })).to.include(`0172${key}0201n5204`);
  });

  it('has 236 characters at most', () => {
    const code = buildStaticBrCode({
      key: 'k'.repeat(77),
      merchantName: 'n'.repeat(50),
      merchantCity: 'c'.repeat(50),
      amount: toMinor(999_999_999_999),
      txid: 't'.repeat(25),
    });
    expect(code.length).to.equal(236);
    expect(parseBrCode(code).ok).to.equal(true);
  });

  for (const [what, wrong] of [
    ['an empty key', { key: '' }],
    ['a key of 78 characters', { key: 'k'.repeat(78) }],
    ['a key with a space', { key: 'a b' }],
    ['a key with an accent', { key: 'josé@example.com' }],
    ['an empty txid', { txid: '' }],
    ['a txid of 26 characters', { txid: 'x'.repeat(26) }],
    ['a txid with a hyphen', { txid: 'a-b' }],
    ['an amount of nothing', { amount: toMinor(0) }],
  ] as const)
    it(`refuses ${what}`, () => {
      expect(() => buildStaticBrCode({ ...fixed, ...wrong })).to.throw(RangeError);
    });
});
