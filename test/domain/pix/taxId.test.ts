import { expect } from 'chai';
import { SANDBOX_PEOPLE } from '../../../domain/pix/sandboxPeople.ts';
import { contradicts, isCnpj, isCpf, isStrictTaxId, payerTaxIdOf, taxIdOf } from '../../../domain/pix/taxId.ts';
import { taxIdVectors } from './vectors.ts';

describe('isCpf', () => {
  for (const { v, valid } of taxIdVectors.cpf)
    it(`${valid ? 'accepts' : 'rejects'} ${JSON.stringify(v)}`, () => {
      expect([isCpf(v), isCnpj(v), isStrictTaxId(v)]).to.deep.equal([valid, false, valid]);
    });

  for (let digit = 0; digit < 10; digit++)
    it(`rejects ${String(digit).repeat(11)} although its check digits are correct`, () => {
      expect(isCpf(String(digit).repeat(11))).to.equal(false);
    });

  for (const text of ['', '1234567890', '123.456.789-09', '12345678909\n', '1234567890a'])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect([isCpf(text), isStrictTaxId(text)]).to.deep.equal([false, false]);
    });
});

describe('isCnpj', () => {
  for (const { v, valid } of taxIdVectors.cnpj)
    it(`${valid ? 'accepts' : 'rejects'} ${JSON.stringify(v)}`, () => {
      expect([isCnpj(v), isCpf(v), isStrictTaxId(v)]).to.deep.equal([valid, false, valid]);
    });

  for (const text of ['12345678000195\n', ' 12345678000195', '12ABC34501DE3A', '12ÁBC34501DE35', '12ABC34501DE36'])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect([isCnpj(text), isStrictTaxId(text)]).to.deep.equal([false, false]);
    });
});

describe('taxIdOf', () => {
  for (const [text, bare] of [
    ['12345678909', '12345678909'],
    ['123.456.789-09', '12345678909'],
    ['123456789-09', '12345678909'],
    ['123 456 789 09', '12345678909'],
    ['123.456.789/09', '12345678909'],
    [' 123.456.789 - 09 ', '12345678909'],
    ['12345678000195', '12345678000195'],
    ['12.345.678/0001-95', '12345678000195'],
    ['12 345 678 0001 95', '12345678000195'],
    ['12345678/0001-95', '12345678000195'],
    ['12.345.678 / 0001 - 95', '12345678000195'],
    ['12.ABC.345/01DE-35', '12ABC34501DE35'],
    ['12.abc.345/01de-35', '12ABC34501DE35'],
    ['12abc34501de35', '12ABC34501DE35'],
  ] as const)
    it(`returns ${bare} for "${text}" and is idempotent`, () => {
      expect(taxIdOf(text)).to.equal(bare);
      expect(taxIdOf(bare)).to.equal(bare);
    });

  for (const text of [
    '',
    ' ',
    '123.456.789-00',
    '111.111.111-11',
    '00.000.000/0000-00',
    '12.345.678/0001-90',
    '1.2345.6789-09',
    '123..456.789-09',
    '123,456,789-09',
    '123.456.789--09',
    'CPF 123.456.789-09',
    '123.456.789-09 and more',
    '123\t456\t789\t09',
    '12345678909\n',
    '１２３45678909',
    '1234567890912345678000195',
    'x'.repeat(100_000),
    ' '.repeat(100_000),
  ])
    it(`returns null for ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(taxIdOf(text)).to.equal(null);
    });
});

describe('sandbox people', () => {
  it('are the fictitious people of pix.md, and the first is the default payer', () => {
    expect(SANDBOX_PEOPLE.map(({ document }) => document)).to.deep.equal([
      '99991111140',
      '99992222263',
      '99993333387',
      '99994444409',
      '99995555514',
    ]);
    expect(SANDBOX_PEOPLE[0].name).to.equal('PAGADOR DE TESTE');
  });

  it('have valid CPFs and unique names', () => {
    expect(SANDBOX_PEOPLE.filter(({ document }) => !isCpf(document))).to.deep.equal([]);
    expect(new Set(SANDBOX_PEOPLE.map(({ name }) => name)).size).to.equal(SANDBOX_PEOPLE.length);
  });
});

describe('contradicts() for a masked document and a payer lock (V6)', () => {
  for (const [text, lock, isContradicted] of [
    ['***.456.789-**', '12345678909', false],
    ['***456789**', '12345678909', false],
    ['***.456.788-**', '12345678909', true],
    ['***456788**', '12345678909', true],
    ['***.456789-**', '12345678909', false],
    ['*** 456 788 **', '12345678909', true],
    ['•••.456.788-••', '12345678909', true],
    ['*X*.456.788-X*', '12345678909', true],
    ['*x*.456.789-x*', '12345678909', false],
    ['123.456.789-0*', '12345678909', false],
    ['223.456.789-0*', '12345678909', true],
    ['***********', '12345678909', false],
    ['**.ABC.345/01DE-**', '12ABC34501DE35', false],
    ['**.abd.345/01de-**', '12ABC34501DE35', true],
    // These have unknown digit positions, or hide nothing.
    ['*123.456.788-09', '12345678909', false],
    ['456788', '12345678909', false],
    ['**.ABC.345/01DE-**', '12345678909', false],
    ['***.456.78', '12345678909', false],
    ['***!456788**', '12345678909', false],
    ['12345678800', '12345678909', false],
    ['', '12345678909', false],
    [null, '12345678909', false],
  ] as const)
    it(`returns ${isContradicted} for ${JSON.stringify(text)} and ${lock}`, () =>
      expect(contradicts(text, lock)).to.equal(isContradicted));
});

describe('payerTaxIdOf() for documents reported by banks (M5)', () => {
  for (const [text, bare] of [
    ['12345678909', '12345678909'],
    ['123.456.789-09', '12345678909'],
    [' 123 456 789 / 09 ', '12345678909'],
    ['12.abc.345/01de-35', '12ABC34501DE35'],
    ['12ABC34501DE35', '12ABC34501DE35'],
    [null, null],
    ['', null],
    ['...', null],
    ['***.456.789-**', null],
    ['•••.456.789-••', null],
    ['123.456.789-0*', null],
    ['*123.456.789-09', null], // The document may be longer than its visible part.
    ['12345678900', null],
    ['1234567890', null],
    ['00000000000', null],
  ] as const)
    it(`returns ${bare ?? 'null'} for ${JSON.stringify(text)}`, () => expect(payerTaxIdOf(text)).to.equal(bare));
});
