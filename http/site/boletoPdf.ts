// A boleto to print or to pay from the screen, as a PDF (rule P3).
import type { Mode } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { formatBoletoLine } from './boletoLine.ts';
import { brasiliaDay } from './brasiliaTime.ts';
import { drawPaymentSlip } from './pdf/boletoSlip.ts';
import {
  BOLD,
  bytesOf,
  COLOR,
  CONTENT_WIDTH,
  drawFitted,
  drawHead,
  MARGIN,
  openPdf,
  type Pdf,
  REGULAR,
} from './pdf/document.ts';
import { drawFactTable } from './pdf/factTable.ts';
import { maskedTaxId, shownTaxId } from './pdf/maskedTaxId.ts';
import { printable } from './pdf/printable.ts';

export interface BoletoFacts {
  readonly mode: Mode;
  /** 47 digits. */
  readonly line: string;
  /** 44 digits. */
  readonly barcode: string;
  /** Centavos. */
  readonly amount: Minor;
  readonly issuedAt: Timestamp;
  /** Its civil day in Brasília is the due date. */
  readonly dueAt: Timestamp;
  readonly merchantName: string;
  /** CPF or CNPJ without punctuation; null if unknown. */
  readonly merchantTaxId: string | null;
  readonly payerName: string | null;
  /** CPF or CNPJ, printed masked because the link is public. Other documents are omitted. */
  readonly payerDocument: string | null;
  /** `tx_…` */
  readonly transactionId: string;
}

const receiverText = ({ merchantName, merchantTaxId }: BoletoFacts): string => {
  const taxId = merchantTaxId === null ? null : shownTaxId(merchantTaxId);
  return [printable(merchantName), taxId && `${taxId.kind} ${taxId.text}`].filter(Boolean).join(' · ');
};

const payerText = ({ payerName, payerDocument }: BoletoFacts): string => {
  const taxId = payerDocument === null ? null : maskedTaxId(payerDocument);
  return [printable(payerName ?? ''), taxId && `CPF/CNPJ ${taxId}`].filter(Boolean).join(' · ') || 'Não informado';
};

const drawLineBox = (pdf: Pdf, line: string, y: number): void => {
  pdf.roundedRect(MARGIN, y, CONTENT_WIDTH, 62, 12).fill(COLOR.soft);
  pdf.font(REGULAR).fontSize(9.5).fillColor(COLOR.muted);
  pdf.text('Linha digitável', MARGIN + 18, y + 14, { lineBreak: false });
  pdf.font(BOLD).fillColor(COLOR.text);
  drawFitted(pdf, line, MARGIN + 18, y + 31, 14.5, CONTENT_WIDTH - 36);
};

/**
 * Returns one A4 page in Portuguese: the facts above, the slip with its bar code below. Equal facts give equal bytes. Rejects with
 * RangeError if the line or the bar code has the wrong number of digits.
 */
export const renderBoleto = async (facts: BoletoFacts): Promise<Buffer> => {
  const amount = formatAmount(facts.amount, 'BRL', 'pt');
  const line = formatBoletoLine(facts.line);
  const dueDay = brasiliaDay(facts.dueAt);
  const receiver = receiverText(facts);
  const payer = payerText(facts);
  const isTest = facts.mode === 'test';
  const pdf = await openPdf({ title: `Boleto de ${amount}`, subject: facts.transactionId, at: facts.issuedAt });
  drawHead(pdf, 56, isTest);
  pdf.font(REGULAR).fontSize(13).fillColor(COLOR.muted);
  pdf.text('Boleto', MARGIN, 112, { lineBreak: false });
  pdf.font(BOLD).fillColor(COLOR.text);
  drawFitted(pdf, amount, MARGIN, 132, 36, CONTENT_WIDTH);
  pdf.fontSize(11).fillColor(COLOR.accent);
  pdf.text(`Vence em ${dueDay}`, MARGIN, 176, { lineBreak: false });
  drawLineBox(pdf, line, 208);
  const rows = [
    { label: 'Beneficiário', value: receiver },
    { label: 'Pagador', value: payer },
    { label: 'Emitido em', value: brasiliaDay(facts.issuedAt) },
    { label: 'ID na Quita', value: facts.transactionId },
  ];
  drawFactTable(pdf, rows, 290);
  drawPaymentSlip(pdf, {
    barcode: facts.barcode,
    line,
    amount,
    dueDay,
    receiver,
    payer,
    number: facts.transactionId,
    isTest,
  });
  return bytesOf(pdf);
};
