// Common parts of all PDFs: one A4 page, colors, fonts and head. The bytes depend only on the facts.
import type PDFDocument from 'pdfkit';
import type { Timestamp } from '../../../domain/kernel/time.ts';

export type Pdf = InstanceType<typeof PDFDocument>;

/** Lengths are PDF points (1/72 inch). */
export const PAGE_WIDTH = 595.28;
export const PAGE_HEIGHT = 841.89;
export const MARGIN = 56;
export const CONTENT_WIDTH = PAGE_WIDTH - 2 * MARGIN;
export const POINTS_PER_MM = 72 / 25.4;

/** The light colors of the checkout page (preferences.css). */
export const COLOR = {
  text: '#14201c',
  muted: '#52625c',
  line: '#dbe4e0',
  soft: '#f5f8f7',
  accent: '#046c55',
  warn: '#8a4b00',
  warnSoft: '#fdf0dc',
} as const;
export const REGULAR = 'Helvetica';
export const BOLD = 'Helvetica-Bold';

interface Described {
  readonly title: string;
  readonly subject: string;
  /** The creation date in the document. It comes from the facts, so that equal facts give equal bytes. */
  readonly at: Timestamp;
  /** Text that reaches the lower margin continues below the upper margin of a new page. Default: 0. */
  readonly margin?: number;
}

/** Opens a document. The first call loads pdfkit, so that the start doesn't spend 81 ms of CPU on it. */
export const openPdf = async ({ title, subject, at, margin = 0 }: Described): Promise<Pdf> => {
  const { default: Document } = await import('pdfkit');
  return new Document({
    size: 'A4',
    margin,
    lang: 'pt-BR',
    displayTitle: true,
    info: { Title: title, Subject: subject, Author: 'Quita', Creator: 'Quita', CreationDate: new Date(at) },
  });
};

/** Ends the document and returns its bytes. */
export const bytesOf = (pdf: Pdf): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
    pdf.end();
  });

const drawMark = (pdf: Pdf, y: number): void => {
  pdf.roundedRect(MARGIN, y, 24, 24, 7).fill(COLOR.accent);
  pdf.save().translate(MARGIN, y).lineWidth(2.6).lineCap('round').lineJoin('round');
  pdf.moveTo(6.5, 12.4).lineTo(10.3, 16.2).lineTo(17.5, 8.2).stroke('#ffffff').restore();
  pdf.font(BOLD).fontSize(16).fillColor(COLOR.text);
  pdf.text('Quita', MARGIN + 32, y + 6, { lineBreak: false });
};

const LOGO_BOX = [170, 40] as const;

/**
 * Draws the merchant's image or else Quita's mark at the left, and in test mode a badge at the right. `y` is the upper edge of the mark,
 * which is 24 points high; an image is centered on the mark's middle. Throws if the image is invalid.
 */
export const drawHead = (pdf: Pdf, y: number, isTest: boolean, logo: Buffer | null = null): void => {
  if (logo === null) drawMark(pdf, y);
  else pdf.image(logo, MARGIN, y + 12 - LOGO_BOX[1] / 2, { fit: [...LOGO_BOX], valign: 'center' });
  if (!isTest) return;
  pdf.font(BOLD).fontSize(9);
  const label = 'AMBIENTE DE TESTE';
  const width = pdf.widthOfString(label) + 20;
  const left = MARGIN + CONTENT_WIDTH - width;
  pdf.roundedRect(left, y + 2, width, 20, 10).fill(COLOR.warnSoft);
  pdf.fillColor(COLOR.warn).text(label, left + 10, y + 8.5, { lineBreak: false });
};

/** Draws a thin horizontal rule across the content's width. */
export const drawRule = (pdf: Pdf, y: number): void => {
  pdf
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + CONTENT_WIDTH, y)
    .lineWidth(0.75)
    .stroke(COLOR.line);
};

/** Draws one line no wider than `width`: the font size shrinks from `size` until the text fits. */
export const drawFitted = (pdf: Pdf, text: string, x: number, y: number, size: number, width: number): void => {
  const natural = pdf.fontSize(size).widthOfString(text);
  pdf.fontSize(Math.min(size, (size * width) / natural)).text(text, x, y, { lineBreak: false });
};
