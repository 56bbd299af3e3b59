// The answer to a person's access request as a PDF in Portuguese: the data held, payment by payment (rule L1).
import { setImmediate } from 'node:timers/promises';
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
  drawRule,
  MARGIN,
  openPdf,
  PAGE_HEIGHT,
  type Pdf,
  REGULAR,
} from '../../site/pdf/document.ts';
import { spelledOut } from '../../site/pdf/printable.ts';

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

/** Returns each value with its place. `isOwn`: the keys are a merchant's own words, so they are shown as stored. */
const factsOf = (data: unknown, path: readonly string[] = [], isOwn = false): readonly Fact[] => {
  if (typeof data !== 'object' || data === null) return [[path.join(' '), String(data)]];
  return Object.entries(data).flatMap(([key, value]) => {
    const isSilent = Array.isArray(data) || (!isOwn && SILENT.has(key));
    const word = isOwn ? key : (WORDS[key] ?? key);
    return factsOf(value, isSilent ? path : [...path, word], isOwn || key === 'metadata');
  });
};

const day = (at: Timestamp | null): string | null => at && `${brasiliaSecond(at)} (horário de Brasília)`;

const known = (label: string, value: string | null): readonly Fact[] => (value === null ? [] : [[label, value]]);

const rowsOf = (held: HeldView): readonly Fact[] => [
  ['Valor', formatAmount(held.amount, held.currency, 'pt')],
  ...known('Criado em', day(held.createdAt)),
  ['Conta', held.accountId],
  ['Ambiente', held.mode === 'test' ? 'teste' : 'produção'],
  ...known('Cobrança', held.chargeId),
  ...known('Guardado por lei até', day(held.keptUntil)),
  ...known('Dados apagados em', day(held.erasedAt)),
  ...factsOf(held.data),
  ...held.disputes.flatMap(({ id, data }) =>
    factsOf(data ?? 'os dados não puderam ser lidos', ['Disputa']).map(
      ([label, value]): Fact => [label, `${value} (${id})`],
    ),
  ),
];

/** Height of a heading, or of the start of a row that doesn't begin just above the lower margin, in points. */
const START = 64;
const BOTTOM = PAGE_HEIGHT - MARGIN;

/** Returns the top of the next part, on another page if it can't start on this one. */
const roomBelow = (pdf: Pdf, y: number): number => {
  if (y + START <= BOTTOM) return y;
  pdf.addPage();
  return MARGIN;
};

const drawText = (pdf: Pdf, text: string, y: number): number => {
  pdf.font(REGULAR).fontSize(10).fillColor(COLOR.muted);
  pdf.text(text, MARGIN, y, { width: CONTENT_WIDTH });
  return pdf.y + 12;
};

const LABEL_WIDTH = 150;
const VALUE_WIDTH = CONTENT_WIDTH - LABEL_WIDTH;
const GAP = 8;
const PADDING = 9;

/** More characters of a word get lines of their own: pdfkit breaks a word in a time that grows with the square of its length. */
const LONG_WORD = /\S{40}(?=\S)/g;
const drawable = (text: string): string => spelledOut(text).replaceAll(LONG_WORD, '$&\n');

/**
 * Draws a label and its value, with a rule above and below, and returns the lower edge. Unlike on a receipt, nothing is cut, because the
 * person is entitled to all of it: both flow over as many lines and pages as they need. A long label has lines of its own.
 */
const drawFact = (pdf: Pdf, [name, value]: Fact, y: number): number => {
  drawRule(pdf, y);
  const label = drawable(name);
  pdf.font(REGULAR).fontSize(10.5).fillColor(COLOR.muted);
  const isBeside = !label.includes('\n') && pdf.widthOfString(label) <= LABEL_WIDTH - GAP;
  pdf.text(label, MARGIN, y + PADDING, { width: CONTENT_WIDTH });
  pdf.font(BOLD).fillColor(COLOR.text);
  const top = isBeside ? y + PADDING : pdf.y;
  pdf.text(drawable(value) || '(vazio)', MARGIN + LABEL_WIDTH, top, { width: VALUE_WIDTH });
  const bottom = pdf.y + PADDING - 2;
  drawRule(pdf, bottom);
  return bottom;
};

const INTRODUCTION =
  'Este documento lista os dados pessoais que a plataforma mantém sobre o titular em pagamentos e saques, com o prazo de guarda exigido por lei. Dados apagados não aparecem.';
const SPELLING =
  'Um código como [U+0414] representa um caractere que este documento não pode desenhar: o relatório em JSON tem o texto exato.';

/** Returns the report, which shows everything that the JSON report does. The same facts give the same bytes. */
export const renderPrivacyReport = async (held: readonly HeldView[], at: Timestamp): Promise<Buffer> => {
  const pdf = await openPdf({ title: 'Relatório de dados pessoais', subject: 'LGPD, artigo 18', at, margin: MARGIN });
  drawHead(pdf, MARGIN, false);
  pdf.font(BOLD).fontSize(18).fillColor(COLOR.text);
  pdf.text('Relatório de dados pessoais', MARGIN, 110, { lineBreak: false });
  let y = drawText(pdf, `${INTRODUCTION} ${SPELLING} Emitido em ${day(at)}.`, 140);
  if (held.length === 0) y = drawText(pdf, 'Nenhum dado pessoal foi encontrado.', y);
  for (const one of held) {
    await setImmediate(); // other requests wait while one payment is drawn
    y = roomBelow(pdf, y + 12);
    pdf.font(BOLD).fontSize(12).fillColor(COLOR.text);
    pdf.text(`${one.kind === 'payment' ? 'Pagamento' : 'Saque'} ${one.id}`, MARGIN, y, { lineBreak: false });
    y += 20;
    for (const fact of rowsOf(one)) y = drawFact(pdf, fact, roomBelow(pdf, y));
  }
  return bytesOf(pdf);
};
