// Reads PDFs that pdfkit wrote: selectable text, rectangles, and the document's metadata.
import { inflateSync } from 'node:zlib';

/** Returns the document's streams, unpacked and concatenated: the page's drawing operators. */
const drawing = (pdf: Buffer): string => {
  const parts: string[] = [];
  const text = pdf.toString('latin1');
  for (const { index, 0: head } of text.matchAll(/\/Filter \/FlateDecode\n>>\nstream\n/g)) {
    const start = index + head.length;
    parts.push(inflateSync(pdf.subarray(start, text.indexOf('\nendstream', start))).toString('latin1'));
  }
  return parts.join('\n');
};

const windows1252 = new TextDecoder('windows-1252');

interface PdfLine {
  /** Start of the baseline, in points from the left and the top of the page. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Returns the drawn lines, in the order of drawing. */
export const pdfLines = (pdf: Buffer): readonly PdfLine[] =>
  [...drawing(pdf).matchAll(/1 0 0 1 (\S+) (\S+) Tm\n.*?\[(.*?)\] TJ/gs)].map(([, x, y, shown]) => ({
    x: Number(x),
    y: 841.89 - Number(y),
    text: [...shown!.matchAll(/<([0-9a-f]*)>/g)]
      .map(([, hex]) => windows1252.decode(Buffer.from(hex!, 'hex')))
      .join(''),
  }));

export const pdfText = (pdf: Buffer): readonly string[] => pdfLines(pdf).map(({ text }) => text);

interface PdfRectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the rectangles in points, with y from the top of the page. */
export const pdfRectangles = (pdf: Buffer): readonly PdfRectangle[] =>
  [...drawing(pdf).matchAll(/^(\S+) (\S+) (\S+) (\S+) re$/gm)].map(([, ...numbers]) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
    return { x, y, width, height };
  });

export const pdfPages = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\n/g)?.length ?? 0;
