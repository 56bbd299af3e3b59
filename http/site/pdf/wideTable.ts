// A table on landscape pages of its own, with the head of the columns on each page.
import { BOLD, COLOR, drawFitted, MARGIN, PAGE_HEIGHT, PAGE_WIDTH, type Pdf, REGULAR } from './document.ts';

/** The columns of a table share 730 points. */
export interface Column {
  readonly name: string;
  readonly width: number;
  /** Aligned at the right. */
  readonly isAmount?: true;
}

const SIZE = 7.5;
const ROW_HEIGHT = 15;
const GAP = 6;
/** The width of a portrait page is the height of a landscape one. */
const BOTTOM = PAGE_WIDTH - MARGIN;

const drawRow = (pdf: Pdf, columns: readonly Column[], cells: readonly string[], y: number): void => {
  let x = MARGIN;
  for (const [n, { width, isAmount }] of columns.entries()) {
    const text = cells[n] ?? '';
    const room = width - GAP;
    const left = isAmount ? x + GAP + Math.max(0, room - pdf.fontSize(SIZE).widthOfString(text)) : x;
    if (text !== '') drawFitted(pdf, text, left, y, SIZE, room);
    x += width;
  }
};

const openPage = (pdf: Pdf, columns: readonly Column[]): number => {
  pdf.addPage({ size: 'A4', layout: 'landscape', margin: 0 });
  pdf.font(BOLD).fillColor(COLOR.muted);
  drawRow(
    pdf,
    columns,
    columns.map(({ name }) => name),
    MARGIN,
  );
  const right = PAGE_HEIGHT - MARGIN;
  pdf
    .moveTo(MARGIN, MARGIN + ROW_HEIGHT - 4)
    .lineTo(right, MARGIN + ROW_HEIGHT - 4)
    .lineWidth(0.75)
    .stroke(COLOR.line);
  pdf.font(REGULAR).fillColor(COLOR.text);
  return MARGIN + ROW_HEIGHT + 2;
};

/** Draws the table on new pages. Cells are in WinAnsi (printable.ts). Awaits `rest` after each page, so that other work can continue. */
export const drawWideTable = async (
  pdf: Pdf,
  columns: readonly Column[],
  rows: Iterable<readonly string[]>,
  rest: () => Promise<unknown>,
): Promise<void> => {
  let y = Number.POSITIVE_INFINITY;
  for (const cells of rows) {
    if (y + ROW_HEIGHT > BOTTOM) {
      await rest();
      y = openPage(pdf, columns);
    }
    drawRow(pdf, columns, cells, y);
    y += ROW_HEIGHT;
  }
};
