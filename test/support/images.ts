// Images as merchants upload them.
import jpeg from 'jpeg-js';
import { PNG, type PNGOptions } from 'pngjs';

/** A ring on nothing, which compresses well. */
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
