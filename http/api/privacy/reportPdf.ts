// The answer to a person's access request as a PDF in Portuguese: the data held, payment by payment (rule L1).
import type { HeldView } from '../../../application/privacy/heldView.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { brasiliaSecond } from '../../site/brasiliaTime.ts';
import {
  BOLD,
  bytesOf,
  COLOR,
  CONTENT_WIDTH,
  drawHead,
  MARGIN,
  openPdf,
  PAGE_HEIGHT,
  type Pdf,
  REGULAR,
} from '../../site/pdf/document.ts';
import { drawFactTable } from '../../site/pdf/factTable.ts';
import { printableRows } from '../../site/pdf/receiptParts.ts';

/** Words of the stored fields. Others are shown as stored. */
const WORDS: { readonly [field: string]: string } = {
  customer: 'Cliente',
  payer: 'Pagador',
  name: 'nome',
  document: 'documento',
  email: 'e-mail',
  phone: 'telefone',
  customerId: 'Código do cliente',
  expectedPayerTaxId: 'CPF ou CNPJ esperado',
  metadata: 'Dados da loja',
  refunds: 'Reembolso',
  dispute: 'Disputa',
  destination: 'chave Pix',
  description: 'descrição',
  reason: 'motivo',
  appeal: 'Contestação',
  evidence: 'Arquivo',
  fileName: 'nome',
  refusal: 'Recusa da devolução',
};
/** Parts of a stored path that mean nothing to a reader. */
const SILENT: ReadonlySet<string> = new Set([
  'charge',
  'terms',
  'transaction',
  'settlement',
  'incoming',
  'incomingPayments',
  'instruments',
  'acquirerInstruments',
]);

type Fact = readonly [label: string, value: string];

const factsOf = (data: unknown, path: readonly string[] = []): readonly Fact[] => {
  if (typeof data !== 'object' || data === null) return [[path.join(' '), String(data)]];
  return Object.entries(data).flatMap(([key, value]) => {
    const isPlace = Array.isArray(data);
    return factsOf(value, isPlace || SILENT.has(key) ? path : [...path, WORDS[key] ?? key]);
  });
};

const day = (at: Timestamp | null): string | null => at && `${brasiliaSecond(at)} (horário de Brasília)`;

const rowsOf = (held: HeldView) =>
  printableRows([
    ['Valor', formatAmount(held.amount, held.currency, 'pt')],
    ['Criado em', day(held.createdAt)],
    ['Conta', held.accountId],
    ['Guardado por lei até', day(held.keptUntil)],
    ['Dados apagados em', day(held.erasedAt)],
    ...factsOf(held.data),
    ...held.disputes.flatMap(({ id, data }) =>
      factsOf(data ?? 'os dados não puderam ser lidos', ['Disputa']).map(
        ([label, value]): Fact => [label, `${value} (${id})`],
      ),
    ),
  ]);

/** The maximum height of a heading or a row, in points. */
const ROW_MAX = 64;
const BOTTOM = PAGE_HEIGHT - MARGIN;

/** Returns the top of the next part, on another page if it doesn't fit on this one. */
const roomBelow = (pdf: Pdf, y: number): number => {
  if (y + ROW_MAX <= BOTTOM) return y;
  pdf.addPage();
  return MARGIN;
};

const drawText = (pdf: Pdf, text: string, y: number): number => {
  pdf.font(REGULAR).fontSize(10).fillColor(COLOR.muted);
  pdf.text(text, MARGIN, y, { width: CONTENT_WIDTH });
  return pdf.y + 12;
};

const INTRODUCTION =
  'Este documento lista os dados pessoais que a plataforma mantém sobre o titular em pagamentos e saques, com o prazo de guarda exigido por lei. Dados apagados não aparecem.';

/** Returns the report. The same facts give the same bytes. */
export const renderPrivacyReport = async (held: readonly HeldView[], at: Timestamp): Promise<Buffer> => {
  const pdf = await openPdf({ title: 'Relatório de dados pessoais', subject: 'LGPD, artigo 18', at });
  drawHead(pdf, MARGIN, false);
  pdf.font(BOLD).fontSize(18).fillColor(COLOR.text);
  pdf.text('Relatório de dados pessoais', MARGIN, 110, { lineBreak: false });
  let y = drawText(pdf, `${INTRODUCTION} Emitido em ${day(at)}.`, 140);
  if (held.length === 0) y = drawText(pdf, 'Nenhum dado pessoal foi encontrado.', y);
  for (const one of held) {
    y = roomBelow(pdf, y + 12);
    pdf.font(BOLD).fontSize(12).fillColor(COLOR.text);
    pdf.text(`${one.kind === 'payment' ? 'Pagamento' : 'Saque'} ${one.id}`, MARGIN, y, { lineBreak: false });
    y += 20;
    for (const row of rowsOf(one)) y = drawFactTable(pdf, [row], roomBelow(pdf, y));
  }
  return bytesOf(pdf);
};
