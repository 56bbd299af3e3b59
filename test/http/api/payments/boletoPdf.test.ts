import { expect } from 'chai';
import fc from 'fast-check';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { formatBankCode, formatBoletoLine } from '../../../../http/site/boletoLine.ts';
import { type BoletoFacts, renderBoleto } from '../../../../http/site/boletoPdf.ts';
import { type Bar, interleavedTwoOfFive, symbolWidth } from '../../../../http/site/pdf/interleavedTwoOfFive.ts';
import { pdfLines, pdfPages, pdfRectangles, pdfText } from '../../../support/pdfText.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';
import { OTHERS } from '../../site/checkoutView.ts';

const { line, barcode } = OTHERS.boleto;
const FACTS: BoletoFacts = {
  mode: 'live',
  line,
  barcode,
  amount: toMinor(100),
  issuedAt: parseTimestamp('2026-11-21T13:00:00.000Z'),
  dueAt: parseTimestamp('2026-11-25T02:59:59.999Z'),
  merchantName: 'Padaria São João Ltda',
  merchantTaxId: '12ABC34501DE35',
  payerName: 'João da Conceição',
  payerDocument: '123.456.789-09',
  transactionId: 'tx_01hzy3v7q9k2m4n6p8r0s2t4v6',
};
const boleto = (changes: Partial<BoletoFacts> = {}): Promise<Buffer> => renderBoleto({ ...FACTS, ...changes });
const GROUPED = '00190.50095 40144.816069 06809.350314 3 37370000000100';

/** Reads the digits back like a scanner, from the widths of bars and gaps. */
const scan = (bars: readonly Bar[]): string => {
  const widths = bars.flatMap(({ start, width }, i) => {
    const next = bars[i + 1];
    return next ? [width, next.start - start - width] : [width];
  });
  expect(widths.slice(0, 4)).to.deep.equal([1, 1, 1, 1]);
  expect(widths.slice(-3)).to.deep.equal([3, 1, 1]);
  const weights = [1, 2, 4, 7, 0];
  const digit = (five: readonly number[]) => {
    expect(five.filter((width) => width === 3)).to.have.length(2);
    return five.reduce((sum, width, i) => sum + (width === 3 ? weights[i]! : 0), 0) % 11;
  };
  let digits = '';
  for (let at = 4; at < widths.length - 3; at += 10) {
    const pair = widths.slice(at, at + 10);
    digits += digit(pair.filter((_, i) => i % 2 === 0));
    digits += digit(pair.filter((_, i) => i % 2 === 1));
  }
  return digits;
};

describe('interleaved 2 of 5', () => {
  it('draws the pair 12 element by element', () => {
    // Start; then 1 (wide narrow narrow narrow wide) in bars and 2 (narrow wide narrow narrow wide) in spaces; then stop.
    expect(interleavedTwoOfFive('12')).to.deep.equal([
      { start: 0, width: 1 },
      { start: 2, width: 1 },
      { start: 4, width: 3 },
      { start: 8, width: 1 },
      { start: 12, width: 1 },
      { start: 14, width: 1 },
      { start: 16, width: 3 },
      { start: 22, width: 3 },
      { start: 26, width: 1 },
    ]);
  });

  it('scans back to the same digits and has the expected width', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(digits, (pairs) => {
        const text = pairs.map((pair) => String(pair).padStart(2, '0')).join('');
        const bars = interleavedTwoOfFive(text);
        expect(scan(bars)).to.equal(text);
        const last = bars.at(-1)!;
        expect(last.start + last.width).to.equal(symbolWidth(text.length));
      }),
    );
  });

  it('is 405 narrow elements wide for a boleto', () => expect(symbolWidth(44)).to.equal(405));

  for (const digits of ['', '1', '123', '1a', '１２', ' 12', '12\n'])
    it(`rejects ${JSON.stringify(digits)}`, () => expect(() => interleavedTwoOfFive(digits)).to.throw(RangeError));
});

describe('numbers of a boleto', () => {
  it('are printed in groups', () => expect(formatBoletoLine(line)).to.equal(GROUPED));
  for (const bad of ['', line.slice(1), `${line}0`, GROUPED, `${line.slice(1)}x`])
    it(`rejects ${JSON.stringify(bad)}`, () => expect(() => formatBoletoLine(bad)).to.throw(RangeError));

  // As these banks print their codes.
  for (const code of ['001-9', '033-7', '104-0', '237-2', '341-7', '756-0'])
    it(`have the bank code ${code} with its check digit`, () =>
      expect(formatBankCode(code.slice(0, 3))).to.equal(code));
});

describe('boleto', () => {
  it('is one page with numbers, facts and slip', async () => {
    const pdf = await boleto();
    expect(pdfPages(pdf)).to.equal(1);
    const receiver = 'Padaria São João Ltda · CNPJ 12.ABC.345/01DE-35';
    const payer = 'João da Conceição · CPF/CNPJ ***.456.789-**';
    expect(pdfText(pdf)).to.deep.equal([
      ...['Quita', 'Boleto', 'R$ 1,00', 'Vence em 24/11/2026', 'Linha digitável', GROUPED],
      ...['Beneficiário', receiver, 'Pagador', payer],
      ...['Emitido em', '21/11/2026', 'ID na Quita', 'tx_01hzy3v7q9k2m4n6p8r0s2t4v6'],
      ...['001-9', GROUPED, 'Local de pagamento', 'Qualquer banco, até o vencimento', 'Vencimento', '24/11/2026'],
      ...['Beneficiário', receiver, 'Valor do documento', 'R$ 1,00'],
      ...['Pagador', payer, 'Número do documento', 'tx_01hzy3v7q9k2m4n6p8r0s2t4v6'],
    ]);
  });

  it('has a bar code of 103 by 13 mm that scans as the 44 digits', async () => {
    const mm = 72 / 25.4;
    const drawn = pdfRectangles(await boleto()).filter(({ height }) => Math.abs(height - 13 * mm) < 0.001);
    const [first, last] = [drawn[0]!, drawn.at(-1)!];
    expect(last.x + last.width - first.x).to.be.closeTo(103 * mm, 0.001);
    const unit = (103 * mm) / 405;
    const bars = drawn.map(({ x, width }) => ({
      start: Math.round((x - first.x) / unit),
      width: Math.round(width / unit) as 1 | 3,
    }));
    for (const [i, { x }] of drawn.entries()) expect(x).to.be.closeTo(first.x + bars[i]!.start * unit, 0.001);
    expect(scan(bars)).to.equal(barcode);
  });

  it('is marked as a test in the test environment only', async () => {
    const test = pdfText(await boleto({ mode: 'test' })).map((text) => text.trim());
    expect(test).to.include('AMBIENTE DE TESTE');
    expect(test.slice(-2)).to.deep.equal(['Ambiente de teste: sem valor.', 'Nenhum banco recebe este boleto.']);
    expect(pdfText(await boleto()).join('\n')).to.not.match(/teste/i);
  });

  it('has identical bytes for identical facts, and different bytes for others', async () => {
    const [first, again, other] = [await boleto(), await boleto(), await boleto({ amount: toMinor(101) })];
    expect([first.equals(again), first.equals(other)]).to.deep.equal([true, false]);
  });

  it('names the payer as far as data is available', async () => {
    const payerOf = async (payerName: string | null, payerDocument: string | null) => {
      const text = pdfText(await boleto({ payerName, payerDocument }));
      return text[text.indexOf('Pagador') + 1];
    };
    expect(await payerOf('Ana', null)).to.equal('Ana');
    expect(await payerOf(null, '12345678909')).to.equal('CPF/CNPJ ***.456.789-**');
    expect(await payerOf('🎉', 'x')).to.equal('Não informado');
  });

  it('keeps long names on the page and inside their cells of the slip', async () => {
    const pdf = await boleto({ merchantName: '王W'.repeat(100), payerName: 'W'.repeat(200) });
    expect(pdfPages(pdf)).to.equal(1);
    const lines = pdfLines(pdf);
    const slipTop = lines.findIndex(({ text }) => text === '001-9');
    expect(lines.slice(0, slipTop).every(({ y }) => y < 532)).to.equal(true);
    const names = lines.slice(slipTop).filter(({ text }) => text.includes('W'));
    expect(names.map(({ text }) => text.at(-1))).to.deep.equal(['…', '…']);
  });

  const wrong: [string, Partial<BoletoFacts>][] = [
    ['a line too short', { line: line.slice(1) }],
    ['a bar code too short', { barcode: barcode.slice(2) }],
    ['a bar code with a letter', { barcode: `${barcode.slice(1)}x` }],
  ];
  for (const [name, changes] of wrong) {
    it(`rejects ${name}`, async () => {
      const outcome = await boleto(changes).then(
        () => 'rendered',
        (error: Error) => error.constructor,
      );
      expect(outcome).to.equal(RangeError);
    });
  }
});
