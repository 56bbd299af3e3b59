// A QR code as filled rectangles, which is sharp at every size and much smaller than an image.
import { qrRuns } from '../qrRuns.ts';
import type { Pdf } from './document.ts';

/**
 * Draws a QR code of `text` with error correction M as a square of `side` points. The caller leaves the quiet zone of 4 modules. Throws if
 * the text is empty or too long for a symbol.
 */
export const drawQr = (pdf: Pdf, text: string, x: number, y: number, side: number): void => {
  const { size, runs } = qrRuns(text);
  const unit = side / size;
  for (const { row, column, length } of runs) pdf.rect(x + column * unit, y + row * unit, length * unit, unit);
  pdf.fill('#000000');
};
