import { expect } from 'chai';
import { AMOUNT_MAX, toMinor } from '../../../domain/kernel/money.ts';
import { buildDynamicBrCode } from '../../../domain/pix/brCode.ts';
import { brCodeVectors } from './vectors.ts';

const vector = (id: string): string => brCodeVectors.find((candidate) => candidate.id === id)!.code;

const dynamic = {
  url: 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441',
  merchantName: 'Fulano de Tal',
  merchantCity: 'BRASILIA',
};

describe('buildDynamicBrCode', () => {
  it('reproduces the central bank’s example', () => {
    expect(buildDynamicBrCode(dynamic)).to.equal(vector('bacen-dynamic'));
    expect(buildDynamicBrCode(dynamic)).to.equal(vector('bacen-dynamic'));
  });

  it('returns another code for another location', () => {
    expect(buildDynamicBrCode({ ...dynamic, url: `${dynamic.url}0` })).to.not.equal(vector('bacen-dynamic'));
  });

  it('reproduces Stone’s example with an amount', () => {
    const code = buildDynamicBrCode({
      url: 'exemplodeurl.com.br/pix/v2/11111111-1111-1111-1111-111111111111',
      merchantName: 'TESTE DE TESTE DO TESTEIE',
      merchantCity: 'RIO DE JANEIRO',
      amount: toMinor(1),
    });
    expect(code).to.equal(vector('stone-dynamic-with-amount'));
  });

  it('transliterates and truncates the name and city', () => {
    const code = buildDynamicBrCode({
      ...dynamic,
      merchantName: ' Açaí da Conceição \u{1f347} Comércio e Serviços Ltda',
      merchantCity: 'São Miguel do Oeste',
    });
    expect(code).to.include('5925Acai da Conceicao Comerci6015Sao Miguel do O6207');
  });

  it('writes N for a name or city without ASCII characters', () => {
    expect(buildDynamicBrCode({ ...dynamic, merchantName: '東京', merchantCity: ' ' })).to.include('5901N6001N6207');
  });

  it('supports the largest charge amount', () => {
    expect(buildDynamicBrCode({ ...dynamic, amount: toMinor(AMOUNT_MAX) })).to.include('5412999999999.995802BR');
  });

  it('accepts a location of 77 characters and a localhost location with a port', () => {
    const url = `h.example/${'x'.repeat(67)}`;
    expect(buildDynamicBrCode({ ...dynamic, url })).to.include(`26990014${'br.gov.bcb.pix'}2577${url}5204`);
    expect(buildDynamicBrCode({ ...dynamic, url: 'localhost:3000/pay/x' })).to.include('2520localhost:3000/pay/x');
  });

  for (const [what, url] of [
    ['78 characters', `h.example/${'x'.repeat(68)}`],
    ['no characters', ''],
    ['a scheme', 'https://pix.example.com/x'],
    ['an upper-case scheme', 'HTTP://pix.example.com/x'],
    ['a relative scheme', '//pix.example.com/x'],
    ['a space', 'pix.example.com/x y'],
    ['a line break', 'pix.example.com/x\n'],
    ['an accent', 'pix.example.com/é'],
  ] as const)
    it(`rejects a location with ${what}`, () => {
      expect(() => buildDynamicBrCode({ ...dynamic, url })).to.throw(RangeError);
    });

  for (const amount of [0, -1, 1_000_000_000_000])
    it(`rejects the amount ${amount}`, () => {
      expect(() => buildDynamicBrCode({ ...dynamic, amount: toMinor(amount) })).to.throw(RangeError);
    });
});
