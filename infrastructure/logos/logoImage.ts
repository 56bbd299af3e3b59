// Whether what was uploaded as a logo is an image that any browser and any PDF reader shows: a PNG or JPEG, whole and nothing but it.
import { hash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { type CheckedLogo, LOGO_BYTES_MAX, LOGO_TYPES } from '../../application/ports/logos.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { endOfScan, pngFrame } from '../imageFrames.ts';

/** Of each side, in pixels. What is larger takes long to decode. */
const SIDE = { min: 16, max: 512 } as const;
/** Encoders write about ten; each is a pass over the whole image. */
const JPEG_SCANS_MAX = 16;
const JPEG_MEMORY_MB_MAX = 32;

/** `invalid_request` with param `logo` for anything else. */
export const checkedLogo = async (sent: Uint8Array): Promise<CheckedLogo | Rejection> => {
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  if (bytes.length > LOGO_BYTES_MAX) return refuse(`must have at most ${LOGO_BYTES_MAX} bytes`);
  const mime = (await fileTypeFromBuffer(bytes).catch(() => undefined))?.mime;
  const contentType = LOGO_TYPES.find((type) => type === mime);
  if (contentType === undefined) return refuse('must be a PNG or a JPEG');
  const problem = contentType === 'image/png' ? pngProblem(bytes) : jpegProblem(bytes);
  return problem === null ? { contentType, bytes, sha256: hash('sha256', bytes, 'hex') } : refuse(problem);
};

const refuse = (message: string): Rejection => reject('invalid_request', `The logo ${message}.`, { param: 'logo' });

const DAMAGED = 'is damaged, or has data after the image';

const sideProblem = (width: number, height: number): string | null =>
  [width, height].every((side) => side >= SIDE.min && side <= SIDE.max)
    ? null
    : `must be ${SIDE.min} to ${SIDE.max} pixels wide and high, not ${width} × ${height}`;

const decodeProblem = (decode: () => unknown): string | null => {
  try {
    decode();
    return null;
  } catch {
    return DAMAGED; // what a decoder says quotes the bytes
  }
};

// --- PNG (W3C, "PNG Specification", 5 and 11) ---

const PNG_HEAD = { length: 8, bitDepth: 24, interlace: 28 } as const;
const PNG_HEAD_BYTES = 13;

const pngProblem = (bytes: Buffer): string | null => {
  const frame = pngFrame(bytes);
  if (frame?.end !== bytes.length || bytes.readUInt32BE(PNG_HEAD.length) !== PNG_HEAD_BYTES) return DAMAGED;
  const problem = sideProblem(frame.width, frame.height);
  if (problem !== null) return problem;
  if (bytes[PNG_HEAD.bitDepth] === 16) return 'must have 8 bits per channel, not 16';
  // A decoder can't bound what it inflates of an interlaced one.
  if (bytes[PNG_HEAD.interlace] !== 0) return 'must not be interlaced';
  return decodeProblem(() => PNG.sync.read(bytes, { checkCRC: true }));
};

// --- JPEG (ITU-T T.81, annex B) ---

const MARKER = { end: 0xd9, scan: 0xda } as const;
/** Baseline, extended and progressive. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** Frames that browsers do not show: lossless, hierarchical, arithmetic. 0xc4, 0xc8 and 0xcc are no frames. */
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];

interface JpegParts {
  readonly frames: { readonly width: number; readonly height: number; readonly channels: number }[];
  scans: number;
}

const jpegProblem = (bytes: Buffer): string | null => {
  const parts = jpegParts(bytes);
  const [frame] = parts?.frames ?? [];
  if (parts === null || frame === undefined || parts.frames.length > 1) return DAMAGED;
  if (frame.channels !== 1 && frame.channels !== 3) return 'must be grey or RGB';
  if (parts.scans > JPEG_SCANS_MAX) return `must have at most ${JPEG_SCANS_MAX} scans`;
  const limits = { maxResolutionInMP: (SIDE.max * SIDE.max) / 1e6, maxMemoryUsageInMB: JPEG_MEMORY_MB_MAX };
  return (
    sideProblem(frame.width, frame.height) ??
    decodeProblem(() => jpeg.decode(bytes, { ...limits, tolerantDecoding: false, useTArray: true }))
  );
};

/** null: it does not go from its first marker to its last, which ends it. */
const jpegParts = (bytes: Buffer): JpegParts | null => {
  const parts: JpegParts = { frames: [], scans: 0 };
  let at = 2; // behind the start marker
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length || OTHER_FRAMES.includes(marker)) return null;
    if (FRAMES.includes(marker)) {
      if (length < 8) return null;
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      parts.frames.push({ width, height, channels: bytes[at + 9] as number });
    }
    at = end;
    if (marker === MARKER.scan) {
      parts.scans += 1;
      at = endOfScan(bytes, at);
    }
    if (bytes[at] === 0xff && bytes[at + 1] === MARKER.end) return at + 2 === bytes.length ? parts : null;
  }
  return null;
};
