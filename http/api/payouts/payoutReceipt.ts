// The receipt of a paid payout as a PDF, in the layout of payment receipts (rule Y4).
import type { AccountSettings } from '../../../domain/account/account.ts';
import type { Mode } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import type { PayoutView } from '../../../domain/presentation/payout.ts';
import { brasiliaSecond } from '../../site/brasiliaTime.ts';
import { bytesOf, COLOR, openPdf } from '../../site/pdf/document.ts';
import { drawFactTable, type FactRow } from '../../site/pdf/factTable.ts';
import { shownTaxId } from '../../site/pdf/maskedTaxId.ts';
import { drawReceiptFooter, drawReceiptHead, FACTS_Y, printableRows } from '../../site/pdf/receiptParts.ts';

interface PayoutReceiptFacts {
  readonly mode: Mode;
  readonly merchant: Pick<AccountSettings, 'merchantName' | 'taxId'>;
  /** The merchant's verified PNG or JPEG, or null to show Quita's logo. */
  readonly logo: Buffer | null;
  readonly payout: PayoutView;
  readonly paidAt: Timestamp;
}

const rowsOf = ({ merchant, payout, paidAt }: PayoutReceiptFacts): readonly FactRow[] => {
  const taxId = merchant.taxId === null ? null : shownTaxId(merchant.taxId);
  const { amount, fee, currency } = payout;
  return printableRows([
    ['Pagador', merchant.merchantName],
    [`${taxId?.kind} do pagador`, taxId?.text ?? null],
    ['Chave Pix do recebedor', payout.destination],
    ['Descrição', payout.description],
    ['Data e hora', `${brasiliaSecond(paidAt)} (horário de Brasília)`],
    ['Tarifa', formatAmount(fee, currency, 'pt')],
    ['Total debitado', formatAmount(amount + fee, currency, 'pt')],
    ['ID da transação Pix', payout.end_to_end_id],
    ['ID na Quita', payout.id],
  ]);
};

/** Returns the receipt: one A4 page in Portuguese with selectable text. The same facts give the same bytes. */
export const renderPayoutReceipt = async (facts: PayoutReceiptFacts): Promise<Buffer> => {
  const { payout, paidAt, mode, logo } = facts;
  const amount = formatAmount(payout.amount, payout.currency, 'pt');
  const pdf = await openPdf({ title: `Comprovante de Pix enviado de ${amount}`, subject: payout.id, at: paidAt });
  const outcome = { outcome: 'Pix enviado', outcomeColor: COLOR.accent };
  drawReceiptHead(pdf, { mode, logo, title: 'Comprovante de Pix enviado', amount, ...outcome });
  drawFactTable(pdf, rowsOf(facts), FACTS_Y);
  drawReceiptFooter(pdf, mode, 'Emitido pela Quita com base nos registros da transação.');
  return bytesOf(pdf);
};
