// Images as merchants upload them.
import jpeg from 'jpeg-js';
import { PNG, type PNGOptions } from 'pngjs';

/** Returns the pixels of a ring on an empty background, which compresses well. */
const pixels = (width: number, height: number): Buffer => {
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const radius = Math.hypot(x - width / 2, y - height / 2) / Math.min(width, height);
      if (radius > 0.48 || radius < 0.28) continue;
      data.writeUInt32BE(0xb3261eff, (y * width + x) * 4);
    }
  return data;
};

export const pngImage = (width = 96, height = 48, options: PNGOptions = {}): Buffer => {
  const png = new PNG({ width, height });
  pixels(width, height).copy(png.data);
  return PNG.sync.write(png, options);
};
export const jpegImage = (width = 96, height = 48): Buffer =>
  jpeg.encode({ width, height, data: pixels(width, height) }, 80).data;

/** Returns an image of one pixel that declares this size. */
export const gifImage = (width = 1, height = 1): Buffer => {
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  gif.writeUInt16LE(width, 6);
  gif.writeUInt16LE(height, 8);
  return gif;
};
export const webpImage = (): Buffer =>
  Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
/** Returns a PDF with an empty page. `padding` is the number of bytes of a comment. */
export const pdfFile = (padding = 0): Buffer =>
  Buffer.from(
    `%PDF-1.4\n%${' '.repeat(padding)}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 3 3]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n`,
  );
