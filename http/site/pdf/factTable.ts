// A table of facts: labels on the left, values on the right, a rule below each row.
import { BOLD, COLOR, CONTENT_WIDTH, drawRule, MARGIN, type Pdf, REGULAR } from './document.ts';

export interface FactRow {
  readonly label: string;
  /** In WinAnsi (printable.ts). Cut with an ellipsis after three lines. */
  readonly value: string;
}

const LABEL_WIDTH = 150;
const VALUE_WIDTH = CONTENT_WIDTH - LABEL_WIDTH;
const SIZE = 10.5;
const LINES_MAX = 3;
const PADDING = 9;

/** Draws the table below `y` and returns its lower edge. A row is at most 58 points high. */
export const drawFactTable = (pdf: Pdf, rows: readonly FactRow[], y: number): number => {
  drawRule(pdf, y);
  return rows.reduce((top, { label, value }) => {
    pdf.font(REGULAR).fontSize(SIZE).fillColor(COLOR.muted);
    pdf.text(label, MARGIN, top + PADDING, { lineBreak: false });
    pdf.font(BOLD).fillColor(COLOR.text);
    const lineHeight = pdf.currentLineHeight(true);
    const height = Math.min(pdf.heightOfString(value, { width: VALUE_WIDTH }), LINES_MAX * lineHeight);
    const box = { width: VALUE_WIDTH, height: height + 1, ellipsis: true };
    pdf.text(value, MARGIN + LABEL_WIDTH, top + PADDING, box);
    const bottom = top + height + 2 * PADDING - 2;
    drawRule(pdf, bottom);
    return bottom;
  }, y);
};
