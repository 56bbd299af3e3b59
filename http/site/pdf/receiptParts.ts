// Common parts of receipts: head, rows of facts, and footer.
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

/** Top of the table of facts, in points from the top of the page. */
export const FACTS_Y = 228;

interface ReceiptHead {
  readonly mode: Mode;
  /** The merchant's image, a validated PNG or JPEG, or null for Quita's mark. */
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

/** Returns the rows without unknown or unprintable facts. */
export const printableRows = (rows: readonly (readonly [label: string, value: string | null])[]): readonly FactRow[] =>
  rows.flatMap(([label, value]) => {
    const text = value === null ? '' : printable(value);
    return text === '' ? [] : [{ label, value: text }];
  });

const TEST_FOOTER =
  'Emitido no ambiente de teste da Quita: nenhum dinheiro foi movimentado e este documento não comprova pagamento.';

/** Draws the footer. `live` is its text in live mode. */
export const drawReceiptFooter = (pdf: Pdf, mode: Mode, live: string): void => {
  const y = PAGE_HEIGHT - 72;
  drawRule(pdf, y);
  pdf
    .font(REGULAR)
    .fontSize(8.5)
    .fillColor(mode === 'test' ? COLOR.warn : COLOR.muted);
  pdf.text(mode === 'test' ? TEST_FOOTER : live, MARGIN, y + 12, { width: CONTENT_WIDTH, height: 24 });
};
