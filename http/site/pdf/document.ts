// What the PDFs have in common: one A4 page, its colours and fonts, its head, and bytes that depend on the facts alone.
import type PDFDocument from 'pdfkit';
import type { Timestamp } from '../../../domain/kernel/time.ts';

export type Pdf = InstanceType<typeof PDFDocument>;

/** Lengths are PDF points (1/72 inch). */
const PAGE_WIDTH = 595.28;
export const PAGE_HEIGHT = 841.89;
export const MARGIN = 56;
export const CONTENT_WIDTH = PAGE_WIDTH - 2 * MARGIN;
export const POINTS_PER_MM = 72 / 25.4;

/** The light colours of the checkout page (preferences.css). */
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
  /** Stands as the creation date, so that the same facts give the same bytes. */
  readonly at: Timestamp;
}

/** The first one loads what draws them: 81 ms of CPU that no start pays. */
export const openPdf = async ({ title, subject, at }: Described): Promise<Pdf> => {
  const { default: Document } = await import('pdfkit');
  return new Document({
    size: 'A4',
    margin: 0,
    lang: 'pt-BR',
    displayTitle: true,
    info: { Title: title, Subject: subject, Author: 'Quita', Creator: 'Quita', CreationDate: new Date(at) },
  });
};

/** All bytes of the document, which ends here. */
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
 * At the left the merchant's image, where there is one, else the brand as in favicon.svg; in test mode a badge at the right. `y` is the
 * upper edge of a brand 24 points high, and an image stands around its middle. Throws for an image that is none.
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

/** Thin horizontal rule over the content's width. */
export const drawRule = (pdf: Pdf, y: number): void => {
  pdf
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + CONTENT_WIDTH, y)
    .lineWidth(0.75)
    .stroke(COLOR.line);
};

/** One line no wider than `width`: the size shrinks from `size` until it fits. */
export const drawFitted = (pdf: Pdf, text: string, x: number, y: number, size: number, width: number): void => {
  const natural = pdf.fontSize(size).widthOfString(text);
  pdf.fontSize(Math.min(size, (size * width) / natural)).text(text, x, y, { lineBreak: false });
};
