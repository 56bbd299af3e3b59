import { expect } from 'chai';
import fc from 'fast-check';
import { create } from 'qrcode';
import { AMOUNT_MAX, toMinor } from '../../../../domain/kernel/money.ts';
import { maskedTaxId } from '../../../../http/site/pdf/maskedTaxId.ts';
import { printable } from '../../../../http/site/pdf/printable.ts';
import { type ReceiptFacts, renderReceipt } from '../../../../http/site/receiptPdf.ts';
import { anyCharacter } from '../../../support/anyCharacter.ts';
import { pdfLines, pdfPages, pdfRectangles, pdfText } from '../../../support/pdfText.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';

const URL_ = 'https://pay.example/pay/01hzy3v7q9k2m4n6p8r0s2t4v6';
const FACTS: ReceiptFacts = {
  mode: 'live',
  merchantName: 'Padaria São João Ltda',
  merchantTaxId: '12ABC34501DE35',
  logo: null,
  amount: toMinor(123_456),
  currency: 'BRL',
  method: 'PIX',
  paidAt: parseTimestamp('2026-11-22T01:30:15.123Z'),
  reference: 'E12345678202611220130abcdef12345',
  payerName: 'João da Conceição Araújo',
  payerDocument: '123.456.789-09',
  transactionId: 'tx_01hzy3v7q9k2m4n6p8r0s2t4v6',
  refunded: toMinor(0),
  verificationUrl: URL_,
};
const receipt = (changes: Partial<ReceiptFacts> = {}): Promise<Buffer> => renderReceipt({ ...FACTS, ...changes });
const textOf = async (changes: Partial<ReceiptFacts> = {}) => pdfText(await receipt(changes));
/** Returns the text of the cell next to a label, or null if the label is missing. */
const factOf = async (label: string, changes: Partial<ReceiptFacts> = {}) => {
  const text = await textOf(changes);
  return text.includes(label) ? text[text.indexOf(label) + 1] : null;
};

describe('receipt', () => {
  it('is one page of selectable Portuguese text with all facts in order', async () => {
    const pdf = await receipt();
    expect(pdfPages(pdf)).to.equal(1);
    expect(pdfText(pdf).map((line) => line.trim())).to.deep.equal([
      'Quita',
      'Comprovante de pagamento',
      'R$ 1.234,56',
      'Pagamento confirmado',
      'Recebedor',
      'Padaria São João Ltda',
      'CNPJ do recebedor',
      '12.ABC.345/01DE-35',
      'Pagador',
      'João da Conceição Araújo',
      'CPF ou CNPJ do pagador',
      '***.456.789-**',
      'Forma de pagamento',
      'Pix',
      'Data e hora',
      '21 de novembro de 2026, 22:30:15 (horário de Brasília)',
      'ID da transação Pix',
      'E12345678202611220130abcdef12345',
      'ID na Quita',
      'tx_01hzy3v7q9k2m4n6p8r0s2t4v6',
      'Confira este comprovante',
      'Leia o QR Code com a câmera ou abra o endereço abaixo. A situação',
      'atual do pagamento está lá.',
      URL_,
      'Emitido pela Quita com base nos registros da transação. Não substitui a nota fiscal.',
    ]);
  });

  it('has a title, language, link and the payment’s time in its PDF metadata', async () => {
    const text = (await receipt({ amount: toMinor(100) })).toString('latin1');
    expect(text).to.include('(Comprovante de pagamento de R$ 1,00)');
    expect(text).to.include('(tx_01hzy3v7q9k2m4n6p8r0s2t4v6)');
    expect(text).to.include('/Lang (pt-BR)').and.to.include(`/URI (${URL_})`).and.to.include('(D:20261122013015Z)');
  });

  it('shows the link as a QR code, module by module', async () => {
    const { modules } = create(URL_, { errorCorrectionLevel: 'M' });
    const unit = 84 / modules.size;
    const drawn = pdfRectangles(await receipt()).filter(({ height }) => Math.abs(height - unit) < 0.001);
    const [left, top] = [Math.min(...drawn.map(({ x }) => x)), Math.min(...drawn.map(({ y }) => y))];
    const rows = Array.from({ length: modules.size }, () => Array<string>(modules.size).fill('.'));
    for (const { x, y, width } of drawn) {
      const row = rows[Math.round((y - top) / unit)]!;
      const start = Math.round((x - left) / unit);
      row.fill('#', start, start + Math.round(width / unit));
    }
    const expected = rows.map((row, y) => row.map((_, x) => (modules.get(y, x) ? '#' : '.')).join(''));
    expect(rows.map((row) => row.join(''))).to.deep.equal(expected);
  });

  it('has identical bytes for identical facts, and different bytes for others', async () => {
    const [first, again, other] = [await receipt(), await receipt(), await receipt({ amount: toMinor(123_457) })];
    expect([first.equals(again), first.equals(other)]).to.deep.equal([true, false]);
  });

  it('is marked as a test in the test environment only', async () => {
    const test = await textOf({ mode: 'test' });
    expect(test).to.include('AMBIENTE DE TESTE');
    expect(test.at(-1)).to.equal(
      'Emitido no ambiente de teste da Quita: nenhum dinheiro foi movimentado e este documento não comprova pagamento.',
    );
    expect((await textOf()).join('\n')).to.not.match(/teste/i);
  });

  const refunds: [refunded: number, outcome: string, row: string | null][] = [
    [0, 'Pagamento confirmado', null],
    [1, 'Pagamento confirmado e devolvido parcialmente', 'R$ 0,01 de R$ 1.234,56'],
    [123_455, 'Pagamento confirmado e devolvido parcialmente', 'R$ 1.234,55 de R$ 1.234,56'],
    [123_456, 'Pagamento devolvido', 'R$ 1.234,56 (valor total)'],
  ];
  for (const [refunded, outcome, row] of refunds) {
    it(`states a refund of ${refunded}`, async () => {
      const changes = { refunded: toMinor(refunded) };
      expect([(await textOf(changes))[3], await factOf('Valor devolvido', changes)]).to.deep.equal([outcome, row]);
    });
  }

  it('names another method and the acquirer’s ID', async () => {
    const changes = { method: 'CREDIT_CARD', currency: 'EUR', reference: 'acq_42' } as const;
    expect((await textOf(changes))[2]).to.equal('€ 1.234,56');
    expect(await factOf('Forma de pagamento', changes)).to.equal('Cartão de crédito');
    expect(await factOf('ID na adquirente', changes)).to.equal('acq_42');
    expect(await factOf('ID da transação Pix', changes)).to.equal(null);
  });

  it('omits unknown data of the payer', async () => {
    for (const document of [null, 'passaporte 7', ''])
      expect(await factOf('CPF ou CNPJ do pagador', { payerDocument: document })).to.equal(null);
    for (const name of [null, '', '🎉', ' \u200b']) expect(await factOf('Pagador', { payerName: name })).to.equal(null);
  });

  it('shows the receiver’s CNPJ in full and CPF masked, or neither if unknown', async () => {
    expect(await factOf('CNPJ do recebedor', { merchantTaxId: '99991111000174' })).to.equal('99.991.111/0001-74');
    expect(await factOf('CPF do recebedor', { merchantTaxId: '99991111140' })).to.equal('***.911.111-**');
    const text = (await textOf({ merchantTaxId: null })).join('\n');
    expect(text).to.not.contain('do recebedor');
  });

  it('never shows a full CPF or the payer’s full tax ID', async () => {
    for (const document of ['12345678909', '123.456.789-09', '12ABC34501DE35', '12.ABC.345/01DE-35']) {
      const text = (await textOf({ payerDocument: document, merchantTaxId: '12345678909' })).join('\n');
      expect(text.replace(/[^0-9A-Z\n]/g, '')).to.not.include(document.replace(/[^0-9A-Z]/g, ''));
    }
  });

  it('stays on one page and truncates long values after three lines', async () => {
    const long = { merchantName: 'W'.repeat(200), payerName: 'Maria '.repeat(100), reference: 'x'.repeat(255) };
    const pdf = await receipt({ ...long, amount: toMinor(AMOUNT_MAX), refunded: toMinor(1), currency: 'USDT' });
    expect(pdfPages(pdf)).to.equal(1);
    const lines = pdfLines(pdf);
    for (const { x, y } of lines) expect([x >= 56, x < 540, y > 56, y < 842]).to.deep.equal([true, true, true, true]);
    for (const start of ['WW', 'Maria', 'xx']) {
      const own = lines.filter(({ text }) => text.startsWith(start));
      expect([own.length, own.at(-1)!.text.at(-1)]).to.deep.equal([3, '…']);
    }
    const box = lines.find(({ text }) => text === 'Confira este comprovante')!;
    expect(lines.at(-1)!.y - box.y).to.be.above(120);
  });

  it('renders any name on one page', async () => {
    const names = fc.string({ unit: anyCharacter, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(names, names, async (merchantName, payerName) => {
        expect(pdfPages(await receipt({ merchantName, payerName }))).to.equal(1);
      }),
      { numRuns: 40 },
    );
  });
});

describe('printable text', () => {
  const cases: [string, string][] = [
    ['João Ação ÀÜñ', 'João Ação ÀÜñ'],
    ['Joa\u0303o', 'João'],
    ['“Loja” — 10 €', '“Loja” — 10 €'],
    ['Łukasz Dvořák', 'Lukasz Dvorák'],
    ['Елена', '?????'],
    ['ﬁno Ａｂｃ', 'fino Abc'],
    ['王小明', '???'],
    ['Ana 🎉 Souza', 'Ana Souza'],
    ['Ana 👩‍👩‍👧 🇧🇷 ❤️ Souza', 'Ana Souza'],
    ['a\tb\r\nc\u0000d\u00a0e', 'a b c d e'],
    ['a\u200bb\u202ec\u00add', 'abcd'],
    ['\ud800x', '?x'],
    ['', ''],
    ['  ', ''],
  ];
  for (const [text, expected] of cases)
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(expected)}`, () =>
      expect(printable(text)).to.equal(expected));

  it('is cut at 400 characters', () => {
    expect(printable('x'.repeat(400))).to.equal('x'.repeat(400));
    expect(printable('x'.repeat(401))).to.equal(`${'x'.repeat(400)}…`);
  });

  it('is always WinAnsi, and unchanged when converted again', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const line = printable(text);
        expect(line).to.match(/^[\x20-\x7e\xa1-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*$/);
        expect(printable(line)).to.equal(line);
      }),
    );
  });
});

describe('masked tax ID', () => {
  const cases: [string, string | null][] = [
    ['12345678909', '***.456.789-**'],
    ['123.456.789-09', '***.456.789-**'],
    ['12ABC34501DE35', '**.ABC.345/****-**'],
    ['12.abc.345/01de-35', '**.ABC.345/****-**'],
    ['1234567890', null],
    ['123456789012', null],
    ['passaporte 7', null],
    ['12ABC34501DEXX', null],
    ['', null],
  ];
  for (const [document, masked] of cases)
    it(`of ${document || 'nothing'} is ${masked}`, () => expect(maskedTaxId(document)).to.equal(masked));
});
