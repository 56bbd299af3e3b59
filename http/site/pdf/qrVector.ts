// A QR code as filled rectangles, which is sharp at every size and much smaller than an image.
import { create } from 'qrcode';
import type { Pdf } from './document.ts';

/**
 * Draws a QR code of `text` with error correction M as a square of `side` points. The caller leaves the quiet zone of 4 modules. Throws if
 * the text is empty or too long for a symbol.
 */
export const drawQr = (pdf: Pdf, text: string, x: number, y: number, side: number): void => {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const unit = side / modules.size;
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (!modules.get(row, column)) continue;
      let run = 1; // adjacent modules form one rectangle, to avoid hairlines between them
      while (column + run < modules.size && modules.get(row, column + run)) run++;
      pdf.rect(x + column * unit, y + row * unit, run * unit, unit);
      column += run - 1;
    }
  }
  pdf.fill('#000000');
};
