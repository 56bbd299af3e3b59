// The receipt of a settled payment as a PDF (contract.md, GET /v1/payments/{id}/receipt).
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { brasiliaSecond } from './brasiliaTime.ts';
import { METHOD_NAME } from './methodNames.ts';
import { BOLD, bytesOf, COLOR, CONTENT_WIDTH, MARGIN, openPdf, type Pdf, REGULAR } from './pdf/document.ts';
import { drawFactTable, type FactRow } from './pdf/factTable.ts';
import { maskedTaxId, shownTaxId } from './pdf/maskedTaxId.ts';
import { printable } from './pdf/printable.ts';
import { drawQr } from './pdf/qrVector.ts';
import { drawReceiptFooter, drawReceiptHead, FACTS_Y, printableRows } from './pdf/receiptParts.ts';

export interface ReceiptFacts {
  readonly mode: Mode;
  readonly merchantName: string;
  /** CPF or CNPJ without punctuation. If null, the row is left out. */
  readonly merchantTaxId: string | null;
  /** The merchant's image, a validated PNG or JPEG, or null for Quita's mark. */
  readonly logo: Buffer | null;
  /** The amount paid. */
  readonly amount: Minor;
  readonly currency: string;
  readonly method: PaymentMethod;
  readonly paidAt: Timestamp;
  /** End-to-end id for Pix, otherwise the acquirer's id. */
  readonly reference: string;
  readonly payerName: string | null;
  /** CPF or CNPJ, printed masked. Other documents are omitted. */
  readonly payerDocument: string | null;
  /** `tx_…` */
  readonly transactionId: string;
  /** The part of the amount refunded so far, or 0. */
  readonly refunded: Minor;
  /** An absolute URL of at most some 500 characters, to fit in the QR code. */
  readonly verificationUrl: string;
}

const refundText = ({ refunded, amount, currency }: ReceiptFacts): string =>
  refunded >= amount
    ? `${formatAmount(refunded, currency, 'pt')} (valor total)`
    : `${formatAmount(refunded, currency, 'pt')} de ${formatAmount(amount, currency, 'pt')}`;

const rowsOf = (facts: ReceiptFacts): readonly FactRow[] => {
  const merchant = facts.merchantTaxId === null ? null : shownTaxId(facts.merchantTaxId);
  const payerTaxId = facts.payerDocument === null ? null : maskedTaxId(facts.payerDocument);
  return printableRows([
    ['Recebedor', facts.merchantName],
    [`${merchant?.kind} do recebedor`, merchant?.text ?? null],
    ['Pagador', facts.payerName],
    ['CPF ou CNPJ do pagador', payerTaxId],
    ['Forma de pagamento', METHOD_NAME[facts.method]],
    ['Data e hora', `${brasiliaSecond(facts.paidAt)} (horário de Brasília)`],
    ['Valor devolvido', facts.refunded > 0 ? refundText(facts) : null],
    [facts.method === 'PIX' ? 'ID da transação Pix' : 'ID na adquirente', facts.reference],
    ['ID na Quita', facts.transactionId],
  ]);
};

const outcomeText = ({ refunded, amount }: ReceiptFacts): string => {
  if (refunded === 0) return 'Pagamento confirmado';
  return refunded >= amount ? 'Pagamento devolvido' : 'Pagamento confirmado e devolvido parcialmente';
};

const QR_SIDE = 84;
const BOX_PADDING = 20;
const BOX_HEIGHT = QR_SIDE + 2 * BOX_PADDING;

const drawVerification = (pdf: Pdf, url: string, y: number): void => {
  pdf.roundedRect(MARGIN, y, CONTENT_WIDTH, BOX_HEIGHT, 12).fill(COLOR.soft);
  const qrLeft = MARGIN + BOX_PADDING;
  pdf.rect(qrLeft - 8, y + BOX_PADDING - 8, QR_SIDE + 16, QR_SIDE + 16).fill('#ffffff');
  drawQr(pdf, url, qrLeft, y + BOX_PADDING, QR_SIDE);
  const left = qrLeft + QR_SIDE + 26;
  const width = MARGIN + CONTENT_WIDTH - BOX_PADDING - left;
  pdf.font(BOLD).fontSize(12).fillColor(COLOR.text);
  pdf.text('Confira este comprovante', left, y + 26, { lineBreak: false });
  pdf.font(REGULAR).fontSize(10).fillColor(COLOR.muted);
  pdf.text(
    'Leia o QR Code com a câmera ou abra o endereço abaixo. A situação atual do pagamento está lá.',
    left,
    y + 44,
    {
      width,
      lineGap: 1.5,
    },
  );
  pdf.fontSize(9.5).fillColor(COLOR.accent);
  pdf.text(printable(url), left, y + 78, { width, height: 24, ellipsis: true, link: url });
};

const LIVE_FOOTER = 'Emitido pela Quita com base nos registros da transação. Não substitui a nota fiscal.';

/**
 * Returns one A4 page in Portuguese with selectable text, the reference, and a link (also as QR code) to verify it. Equal facts give equal
 * bytes. Rejects with RangeError if the amount is negative, and rejects if the link doesn't fit a QR code.
 */
export const renderReceipt = async (facts: ReceiptFacts): Promise<Buffer> => {
  const amount = formatAmount(facts.amount, facts.currency, 'pt');
  const pdf = await openPdf({
    title: `Comprovante de pagamento de ${amount}`,
    subject: facts.transactionId,
    at: facts.paidAt,
  });
  drawReceiptHead(pdf, {
    mode: facts.mode,
    logo: facts.logo,
    title: 'Comprovante de pagamento',
    amount,
    outcome: outcomeText(facts),
    outcomeColor: facts.refunded > 0 ? COLOR.warn : COLOR.accent,
  });
  const tableEnd = drawFactTable(pdf, rowsOf(facts), FACTS_Y);
  drawVerification(pdf, facts.verificationUrl, tableEnd + 28);
  drawReceiptFooter(pdf, facts.mode, LIVE_FOOTER);
  return bytesOf(pdf);
};
