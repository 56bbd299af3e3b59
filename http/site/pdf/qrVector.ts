// A QR code as filled rectangles: sharp at every size, and a fraction of an image's bytes.
import { create } from 'qrcode';
import type { Pdf } from './document.ts';

/**
 * Draws `text` with error correction M as a square of `side` points; the caller leaves the quiet zone of 4 modules.
 * Throws when the text is empty or too long for a symbol.
 */
export const drawQr = (pdf: Pdf, text: string, x: number, y: number, side: number): void => {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const unit = side / modules.size;
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (!modules.get(row, column)) continue;
      let run = 1; // neighbours in a row as one rectangle: no hairlines between them
      while (column + run < modules.size && modules.get(row, column + run)) run++;
      pdf.rect(x + column * unit, y + row * unit, run * unit, unit);
      column += run - 1;
    }
  }
  pdf.fill('#000000');
};
