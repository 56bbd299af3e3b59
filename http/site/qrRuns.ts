// A QR code as horizontal runs of dark modules: adjacent modules form one rectangle, so that no hairlines show between them.
import { create } from 'qrcode';

interface Run {
  readonly row: number;
  readonly column: number;
  readonly length: number;
}

/** Returns a QR code with error correction M, without the quiet zone of 4 modules. Throws if the text is empty or too long for a symbol. */
export const qrRuns = (text: string): { readonly size: number; readonly runs: readonly Run[] } => {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const runs: Run[] = [];
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (!modules.get(row, column)) continue;
      let length = 1;
      while (column + length < modules.size && modules.get(row, column + length)) length++;
      runs.push({ row, column, length });
      column += length - 1;
    }
  }
  return { size: modules.size, runs };
};
