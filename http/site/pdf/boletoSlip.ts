// The lower part of a boleto, read by banks and machines: numbers, cells and bar code in the positions that FEBRABAN specifies.
import { formatBankCode } from '../boletoLine.ts';
import {
  BOLD,
  COLOR,
  CONTENT_WIDTH,
  drawFitted,
  MARGIN,
  PAGE_HEIGHT,
  type Pdf,
  POINTS_PER_MM,
  REGULAR,
} from './document.ts';
import { interleavedTwoOfFive, symbolWidth } from './interleavedTwoOfFive.ts';

/** All texts must be in WinAnsi (printable.ts). */
interface Slip {
  /** 44 digits. */
  readonly barcode: string;
  readonly line: string;
  readonly amount: string;
  readonly dueDay: string;
  readonly receiver: string;
  readonly payer: string;
  readonly number: string;
  readonly isTest: boolean;
}

const BARCODE_WIDTH = 103 * POINTS_PER_MM;
const BARCODE_HEIGHT = 13 * POINTS_PER_MM;
/** Lower edge of the bars. */
const BARCODE_BOTTOM = PAGE_HEIGHT - 24 * POINTS_PER_MM;
const TOP = 560;
const RIGHT_CELL = 150;
const CELL_HEIGHT = 36;
const PADDING = 7;
const VALUE_SIZE = 10;
const VALUE_SIZE_MIN = 7.5;

const drawBarcode = (pdf: Pdf, digits: string): void => {
  if (digits.length !== 44) throw new RangeError(`not the 44 digits of a bar code: ${digits}`);
  const unit = BARCODE_WIDTH / symbolWidth(digits.length);
  for (const { start, width } of interleavedTwoOfFive(digits))
    pdf.rect(MARGIN + PADDING + start * unit, BARCODE_BOTTOM - BARCODE_HEIGHT, width * unit, BARCODE_HEIGHT);
  pdf.fill('#000000');
};

/** Draws a cell. A value too long for its line is shrunk to VALUE_SIZE_MIN, then cut with an ellipsis. */
const drawCell = (pdf: Pdf, label: string, value: string, x: number, y: number, width: number): void => {
  pdf.rect(x, y, width, CELL_HEIGHT).lineWidth(0.75).stroke(COLOR.muted);
  pdf.font(REGULAR).fontSize(7.5).fillColor(COLOR.muted);
  pdf.text(label, x + PADDING, y + 6, { lineBreak: false });
  const room = width - 2 * PADDING;
  const natural = pdf.font(BOLD).fontSize(VALUE_SIZE).widthOfString(value);
  pdf.fontSize(Math.max(VALUE_SIZE_MIN, Math.min(VALUE_SIZE, (VALUE_SIZE * (room - 1)) / natural)));
  pdf.fillColor(COLOR.text).text(value, x + PADDING, y + 18, { width: room, height: 12, ellipsis: true });
};

const drawCutLine = (pdf: Pdf, y: number): void => {
  pdf
    .moveTo(0, y)
    .lineTo(MARGIN * 2 + CONTENT_WIDTH, y)
    .dash(3, { space: 3 })
    .lineWidth(0.75)
    .stroke(COLOR.muted)
    .undash();
};

/** Draws the slip at the bottom of the page. Throws RangeError if the bar code doesn't have 44 digits. */
export const drawPaymentSlip = (pdf: Pdf, slip: Slip): void => {
  const left = CONTENT_WIDTH - RIGHT_CELL;
  drawCutLine(pdf, TOP - 28);
  pdf.font(BOLD).fontSize(17).fillColor(COLOR.text);
  pdf.text(formatBankCode(slip.barcode.slice(0, 3)), MARGIN, TOP, { lineBreak: false });
  pdf
    .moveTo(MARGIN + 66, TOP - 4)
    .lineTo(MARGIN + 66, TOP + 20)
    .lineWidth(1.5)
    .stroke(COLOR.text);
  drawFitted(pdf, slip.line, MARGIN + 80, TOP + 2, 13, CONTENT_WIDTH - 80);
  const cells = [
    ['Local de pagamento', 'Qualquer banco, até o vencimento', 'Vencimento', slip.dueDay],
    ['Beneficiário', slip.receiver, 'Valor do documento', slip.amount],
    ['Pagador', slip.payer, 'Número do documento', slip.number],
  ] as const;
  cells.forEach(([label, value, rightLabel, rightValue], row) => {
    const y = TOP + 24 + row * CELL_HEIGHT;
    drawCell(pdf, label, value, MARGIN, y, left);
    drawCell(pdf, rightLabel, rightValue, MARGIN + left, y, RIGHT_CELL);
  });
  drawBarcode(pdf, slip.barcode);
  if (!slip.isTest) return;
  pdf.font(BOLD).fontSize(9).fillColor(COLOR.warn);
  const y = BARCODE_BOTTOM - BARCODE_HEIGHT + 4;
  pdf.text('Ambiente de teste: sem valor. Nenhum banco recebe este boleto.', MARGIN + left, y, {
    width: RIGHT_CELL,
    align: 'right',
  });
};
