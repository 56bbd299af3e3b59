// The QR image of a BR code. The package `qrcode` computes the matrix. The PNG is written here with one bit per pixel, because the
// package's 32-bit writer takes ten times as long and blocks the event loop for 12 ms per image (rule I6).
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { type BitMatrix, create } from 'qrcode';

const compress = promisify(deflate);

/** Light modules around the symbol, as ISO/IEC 18004 requires. */
const QUIET_MODULES = 4;
/** The side is the largest multiple of the module count up to this: 384 to 480 pixels for any BR code. */
const SIDE_MAX_PX = 480;
const CACHED_IMAGES = 256;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const chunk = (type: string, data: Buffer): Buffer => {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
};

/** Returns PNG scanlines, each with a filter byte (0: none) and 1-bit gray pixels, where 1 is white. */
const scanlines = (modules: BitMatrix, scale: number): Buffer => {
  const side = (modules.size + 2 * QUIET_MODULES) * scale;
  const stride = 1 + Math.ceil(side / 8);
  const lines = Buffer.alloc(side * stride, 0xff);
  for (let y = 0; y < side; y++) lines[y * stride] = 0;
  for (let row = 0; row < modules.size; row++) {
    const top = (row + QUIET_MODULES) * scale * stride;
    for (let column = 0; column < modules.size; column++) {
      if (!modules.data[row * modules.size + column]) continue;
      const left = (column + QUIET_MODULES) * scale;
      for (let x = left; x < left + scale; x++) lines[top + 1 + (x >> 3)]! &= ~(0x80 >> (x & 7));
    }
    for (let copy = 1; copy < scale; copy++) lines.copyWithin(top + copy * stride, top, top + stride);
  }
  return lines;
};

const encodePng = async (modules: BitMatrix): Promise<Buffer> => {
  const total = modules.size + 2 * QUIET_MODULES;
  const scale = Math.floor(SIDE_MAX_PX / total);
  const header = Buffer.alloc(13); // after the size: depth 1, gray, deflate, adaptive filters, not interlaced
  header.writeUInt32BE(total * scale, 0);
  header.writeUInt32BE(total * scale, 4);
  header[8] = 1;
  const pixels = await compress(scanlines(modules, scale), { level: 9 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
};

/** Images by code, least recently used first. They are promises, so that concurrent requests share one rendering. */
const cache = new Map<string, Promise<Buffer>>();

const render = async (brCode: string): Promise<Buffer> =>
  encodePng(create(brCode, { errorCorrectionLevel: 'M' }).modules);

/**
 * Returns the QR code of a BR code of 1 to 512 characters as a PNG: 1-bit gray, square, 384 to 480 px, below 4 kB, error correction M,
 * quiet zone of 4 modules. Equal codes give equal bytes. Callers share the buffer and must not write to it. Rejects if the code is empty or
 * doesn't fit a QR symbol.
 */
export const renderQrPng = (brCode: string): Promise<Buffer> => {
  const image = cache.get(brCode) ?? render(brCode);
  cache.delete(brCode);
  cache.set(brCode, image);
  image.catch(() => cache.delete(brCode)); // the caller handles the failure; the cache must not keep it
  if (cache.size > CACHED_IMAGES) cache.delete(cache.keys().next().value!);
  return image;
};

/** Returns the same image as a `data:image/png;base64,` URL (`pixQrCode` of the transaction format, rule I6). */
export const qrPngDataUrl = async (brCode: string): Promise<string> =>
  `data:image/png;base64,${(await renderQrPng(brCode)).toString('base64')}`;
