// Finds the size and the end of an image from the structure of its format, without decoding it. Each function returns null if the
// structure is broken or has too many parts.

export interface ImageFrame {
  /** In pixels; of several frames, the largest. */
  readonly width: number;
  readonly height: number;
  /** Offset of the first byte after the image. */
  readonly end: number;
}
/** Maximum of chunks, segments or blocks. Real images of 10 MB have a few thousand. */
export const PARTS_MAX = 16_384;
/** Maximum of a GIF's sub-blocks, each of at most 255 bytes. 10 MB of full ones are 41,121. */
export const SUB_BLOCKS_MAX = 65_536;

// --- PNG (W3C, "PNG Specification", 5 and 11) ---

const PNG_SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;

export const pngFrame = (bytes: Buffer): ImageFrame | null => {
  let at = PNG_SIGNATURE_BYTES;
  if (bytes.length < at + 16 || bytes.toString('latin1', at + 4, at + 8) !== 'IHDR') return null;
  const [width, height] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
  for (let parts = 0; parts < PARTS_MAX && at + CHUNK_FRAME <= bytes.length; parts++) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    at += CHUNK_FRAME + bytes.readUInt32BE(at);
    if (type === 'IEND') return at <= bytes.length ? { width, height, end: at } : null;
  }
  return null;
};

// --- JPEG (ITU-T T.81, annex B) ---

const JPEG = { end: 0xd9, scan: 0xda, fill: 0xff, stuffing: 0x00, temporary: 0x01 } as const;
const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;
/** Frames of any coding; 0xc4, 0xc8 and 0xcc are tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

export const jpegFrame = (bytes: Buffer): ImageFrame | null => {
  let [width, height] = [0, 0];
  let at = 2; // after the start marker
  for (let parts = 0; parts < PARTS_MAX && at + 2 <= bytes.length && bytes[at] === 0xff; parts++) {
    const marker = bytes[at + 1] as number;
    if (marker === JPEG.end) return { width, height, end: at + 2 };
    if (marker === JPEG.fill) {
      at += 1;
      continue;
    }
    if (marker === JPEG.temporary || isRestart(marker)) {
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) return null;
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return null;
    if (isFrame(marker)) {
      if (length < 8) return null;
      height = Math.max(height, bytes.readUInt16BE(at + 5));
      width = Math.max(width, bytes.readUInt16BE(at + 7));
    }
    at = marker === JPEG.scan ? endOfScan(bytes, end) : end;
  }
  return null;
};

/** Returns the offset of the next marker of a JPEG that isn't part of the scan's data. */
export const endOfScan = (bytes: Buffer, from: number): number => {
  let at = bytes.indexOf(0xff, from);
  for (; at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes[at + 1] as number;
    if (next !== JPEG.stuffing && !isRestart(next)) return at;
  }
  return bytes.length;
};

// --- GIF (CompuServe, "GIF89a", 18 to 27) ---

const GIF = { header: 13, image: 0x2c, extension: 0x21, trailer: 0x3b } as const;
/** Returns the size in bytes of the color table that the flags announce. */
const colorTableBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

export const gifFrame = (bytes: Buffer): ImageFrame | null => {
  if (bytes.length < GIF.header) return null;
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  let at = GIF.header + colorTableBytes(bytes[10] as number);
  const subBlocks = { left: SUB_BLOCKS_MAX };
  for (let parts = 0; parts < PARTS_MAX && at < bytes.length; parts++) {
    const block = bytes[at];
    if (block === GIF.trailer) return { width, height, end: at + 1 };
    if (block === GIF.extension) at = endOfSubBlocks(bytes, at + 2, subBlocks);
    else if (block === GIF.image && at + 10 < bytes.length) {
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
      // One byte with the code size precedes the data.
      at = endOfSubBlocks(bytes, at + 11 + colorTableBytes(bytes[at + 9] as number), subBlocks);
    } else return null;
  }
  return null;
};

/** Returns the offset after the sub-blocks, which end with an empty one. */
const endOfSubBlocks = (bytes: Buffer, from: number, subBlocks: { left: number }): number => {
  let at = from;
  while (at < bytes.length && subBlocks.left-- > 0) {
    const length = bytes[at] as number;
    at += 1 + length;
    if (length === 0) return at;
  }
  return bytes.length;
};

// --- WebP (RFC 9649, 2) ---

const RIFF_HEADER = 12;
const RIFF_CHUNK_HEADER = 8;

/** Returns the size in a chunk of this kind whose payload begins at `at`, or null if the chunk holds no size. */
const webpSize = (bytes: Buffer, kind: string, at: number): { width: number; height: number } | null => {
  if (at + 10 > bytes.length) return null;
  if (kind === 'VP8X') return { width: 1 + bytes.readUIntLE(at + 4, 3), height: 1 + bytes.readUIntLE(at + 7, 3) };
  if (kind === 'VP8 ')
    return { width: bytes.readUInt16LE(at + 6) & 0x3fff, height: bytes.readUInt16LE(at + 8) & 0x3fff };
  if (kind !== 'VP8L') return null;
  const bits = bytes.readUInt32LE(at + 1);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
};

export const webpFrame = (bytes: Buffer): ImageFrame | null => {
  if (bytes.length < RIFF_HEADER) return null;
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) return null;
  let [width, height] = [0, 0];
  let at = RIFF_HEADER;
  for (let parts = 0; parts < PARTS_MAX && at + RIFF_CHUNK_HEADER <= end; parts++) {
    const kind = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const size = webpSize(bytes, kind, at + RIFF_CHUNK_HEADER);
    if (size !== null) {
      width = Math.max(width, size.width);
      height = Math.max(height, size.height);
    }
    at += RIFF_CHUNK_HEADER + length + (length % 2);
  }
  return at === end ? { width, height, end } : null;
};
