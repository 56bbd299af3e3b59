// What receipts have in common: the head over the facts, the rows of the facts, and the foot.
import type { Mode } from '../../../domain/kernel/ids.ts';
import {
  BOLD,
  COLOR,
  CONTENT_WIDTH,
  drawFitted,
  drawHead,
  drawRule,
  MARGIN,
  PAGE_HEIGHT,
  type Pdf,
  REGULAR,
} from './document.ts';
import type { FactRow } from './factTable.ts';
import { printable } from './printable.ts';

/** Where the table of facts begins, in points from the top. */
export const FACTS_Y = 228;

interface ReceiptHead {
  readonly mode: Mode;
  /** The merchant's image, a PNG or JPEG that was checked; null: Quita's mark stands there. */
  readonly logo: Buffer | null;
  readonly title: string;
  readonly amount: string;
  readonly outcome: string;
  readonly outcomeColor: string;
}

export const drawReceiptHead = (pdf: Pdf, { mode, logo, title, amount, outcome, outcomeColor }: ReceiptHead): void => {
  drawHead(pdf, 56, mode === 'test', logo);
  pdf.font(REGULAR).fontSize(13).fillColor(COLOR.muted);
  pdf.text(title, MARGIN, 124, { lineBreak: false });
  pdf.font(BOLD).fillColor(COLOR.text);
  drawFitted(pdf, printable(amount), MARGIN, 144, 40, CONTENT_WIDTH);
  pdf.fontSize(11).fillColor(outcomeColor);
  pdf.text(outcome, MARGIN, 192, { lineBreak: false });
};

/** Leaves out the facts that are not known or can't be printed. */
export const printableRows = (rows: readonly (readonly [label: string, value: string | null])[]): readonly FactRow[] =>
  rows.flatMap(([label, value]) => {
    const text = value === null ? '' : printable(value);
    return text === '' ? [] : [{ label, value: text }];
  });

const TEST_FOOTER =
  'Emitido no ambiente de teste da Quita: nenhum dinheiro foi movimentado e este documento não comprova pagamento.';

/** `live`: its text in live mode. */
export const drawReceiptFooter = (pdf: Pdf, mode: Mode, live: string): void => {
  const y = PAGE_HEIGHT - 72;
  drawRule(pdf, y);
  pdf
    .font(REGULAR)
    .fontSize(8.5)
    .fillColor(mode === 'test' ? COLOR.warn : COLOR.muted);
  pdf.text(mode === 'test' ? TEST_FOOTER : live, MARGIN, y + 12, { width: CONTENT_WIDTH, height: 24 });
};
