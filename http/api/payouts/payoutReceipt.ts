// The receipt of a paid payout as a PDF, in the likeness of a payment's (rule Y4).
import type { AccountSettings } from '../../../domain/account/account.ts';
import type { Mode } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import type { PayoutView } from '../../../domain/presentation/payout.ts';
import { brasiliaSecond } from '../../site/brasiliaTime.ts';
import {
  BOLD,
  bytesOf,
  COLOR,
  CONTENT_WIDTH,
  drawFitted,
  drawHead,
  drawRule,
  MARGIN,
  openPdf,
  PAGE_HEIGHT,
  REGULAR,
} from '../../site/pdf/document.ts';
import { drawFactTable, type FactRow } from '../../site/pdf/factTable.ts';
import { shownTaxId } from '../../site/pdf/maskedTaxId.ts';
import { printable } from '../../site/pdf/printable.ts';

interface PayoutReceiptFacts {
  readonly mode: Mode;
  readonly merchant: Pick<AccountSettings, 'merchantName' | 'taxId'>;
  /** The merchant's image, a PNG or JPEG that was checked; null: Quita's mark stands there. */
  readonly logo: Buffer | null;
  readonly payout: PayoutView;
  readonly paidAt: Timestamp;
}

const rowsOf = ({ merchant, payout, paidAt }: PayoutReceiptFacts): readonly FactRow[] => {
  const taxId = merchant.taxId === null ? null : shownTaxId(merchant.taxId);
  const { amount, fee, currency } = payout;
  const rows: readonly (readonly [label: string, value: string | null])[] = [
    ['Pagador', merchant.merchantName],
    [`${taxId?.kind} do pagador`, taxId?.text ?? null],
    ['Chave Pix do recebedor', payout.destination],
    ['Descrição', payout.description],
    ['Data e hora', `${brasiliaSecond(paidAt)} (horário de Brasília)`],
    ['Tarifa', formatAmount(fee, currency, 'pt')],
    ['Total debitado', formatAmount(amount + fee, currency, 'pt')],
    ['ID da transação Pix', payout.end_to_end_id],
    ['ID na Quita', payout.id],
  ];
  return rows.flatMap(([label, value]) => {
    const text = value === null ? '' : printable(value);
    return text === '' ? [] : [{ label, value: text }];
  });
};

const footerText = (mode: Mode): string =>
  mode === 'test'
    ? 'Emitido no ambiente de teste da Quita: nenhum dinheiro foi movimentado e este documento não comprova pagamento.'
    : 'Emitido pela Quita com base nos registros da transação.';

/** One A4 page in Portuguese, text selectable. The same facts give the same bytes. */
export const renderPayoutReceipt = async (facts: PayoutReceiptFacts): Promise<Buffer> => {
  const { payout, paidAt, mode, logo } = facts;
  const amount = formatAmount(payout.amount, payout.currency, 'pt');
  const pdf = await openPdf({ title: `Comprovante de Pix enviado de ${amount}`, subject: payout.id, at: paidAt });
  drawHead(pdf, 56, mode === 'test', logo);
  pdf.font(REGULAR).fontSize(13).fillColor(COLOR.muted);
  pdf.text('Comprovante de Pix enviado', MARGIN, 124, { lineBreak: false });
  pdf.font(BOLD).fillColor(COLOR.text);
  drawFitted(pdf, printable(amount), MARGIN, 144, 40, CONTENT_WIDTH);
  pdf.fontSize(11).fillColor(COLOR.accent);
  pdf.text('Pix enviado', MARGIN, 192, { lineBreak: false });
  drawFactTable(pdf, rowsOf(facts), 228);
  const footerY = PAGE_HEIGHT - 72;
  drawRule(pdf, footerY);
  pdf.font(REGULAR).fontSize(8.5);
  pdf.fillColor(mode === 'test' ? COLOR.warn : COLOR.muted);
  pdf.text(footerText(mode), MARGIN, footerY + 12, { width: CONTENT_WIDTH, height: 24 });
  return bytesOf(pdf);
};
