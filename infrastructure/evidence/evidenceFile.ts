// Checks that a file has its declared type and contains nothing else: one image up to its last byte, or a PDF. Another program must not
// interpret it differently later (rule Q6).
import { fileTypeFromBuffer } from 'file-type';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { gifFrame, type ImageFrame, jpegFrame, pngFrame, webpFrame } from '../imageFrames.ts';
import { actionProblem } from './pdfActions.ts';

/** Width times height. */
const PIXELS_MAX = 50_000_000;

const FRAME_OF: { readonly [type: string]: (bytes: Buffer) => ImageFrame | null } = {
  'image/png': pngFrame,
  'image/jpeg': jpegFrame,
  'image/gif': gifFrame,
  'image/webp': webpFrame,
};

/** Returns null if the bytes are a file of this type and nothing else, otherwise an `invalid_evidence` rejection. */
export const evidenceProblem = async (bytes: Buffer, contentType: string): Promise<Rejection | null> => {
  const type = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (type?.mime !== contentType) return refuse(`does not have the declared type ${contentType}`);
  const frameOf = FRAME_OF[contentType];
  return frameOf === undefined ? pdfProblem(bytes) : imageProblem(bytes, frameOf(bytes));
};

const refuse = (what: string): Rejection =>
  reject('invalid_evidence', `The file ${what}. Request a new upload and send another file.`);

const NOT_WHOLE = 'is damaged, incomplete, or made of too many parts';
const SEVERAL = 'contains several files';

const imageProblem = async (bytes: Buffer, frame: ImageFrame | null): Promise<Rejection | null> => {
  if (frame === null) return refuse(NOT_WHOLE);
  const { width, height } = frame;
  if (width < 1 || height < 1) return refuse(NOT_WHOLE);
  if (width * height > PIXELS_MAX) return refuse(`has ${width} × ${height} pixels; the maximum is 50 megapixels`);
  if (frame.end !== bytes.length) return refuse('has data after the end of the image');
  return holdsOther(bytes) || isMarkup(bytes) ? refuse(SEVERAL) : null;
};

// --- Signatures of other files. Each is so long that it occurs by chance in fewer than one of ten thousand files of 10 MB. ---

const SIGNATURES = [
  '%PDF-',
  '\x89PNG\r\n\x1a\n',
  'GIF87a',
  'GIF89a',
  'Rar!\x1a\x07',
  '7z\xbc\xaf\x27\x1c',
  '\x7fELF\x02\x01\x01',
  '\x7fELF\x01\x01\x01',
  '!<arch>\n',
  '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
].map((text) => Buffer.from(text, 'latin1'));
/** Markup that a browser, a server or an SVG reader would interpret. */
const MARKUP = /<script[\s>]|<!doctype\s|<html[\s>]|<\?php\s|http:\/\/www\.w3\.org\/2000\/svg/i;
const SVG = /<svg[\s>]/;
const isMarkup = (bytes: Buffer): boolean => {
  const text = bytes.toString('latin1');
  return MARKUP.test(text) || SVG.test(text);
};

/** Searches after the first byte, because the file's own signature is at its start. */
const holdsOther = (bytes: Buffer): boolean =>
  SIGNATURES.some((signature) => bytes.includes(signature, 1)) || isZip(bytes);

const ZIP_END = { signature: Buffer.from('PK\x05\x06', 'latin1'), bytes: 22, commentLength: 20, commentMax: 65_535 };

/** A ZIP is read from its end. Any data may precede it, and a comment may follow. */
const isZip = (bytes: Buffer): boolean => {
  const { signature, bytes: size, commentLength, commentMax } = ZIP_END;
  let at = bytes.indexOf(signature, Math.max(0, bytes.length - size - commentMax));
  for (; at !== -1; at = bytes.indexOf(signature, at + 1))
    if (at + size <= bytes.length && at + size + bytes.readUInt16LE(at + commentLength) <= bytes.length) return true;
  return false;
};

// --- PDF: it may contain whole images and files, so only the data around it is examined. ---

const PDF_END = Buffer.from('%%EOF', 'latin1');
/** A PDF after another one. Incremental updates follow the end marker too, but without a second header. */
const PDF_AFTER_PDF = /%%EOF[\s\0]*%PDF-/;

const pdfProblem = async (bytes: Buffer): Promise<Rejection | null> => {
  if (isZip(bytes) || PDF_AFTER_PDF.test(bytes.toString('latin1'))) return refuse(SEVERAL);
  const action = actionProblem(bytes);
  if (action !== null) return refuse(action);
  const end = bytes.lastIndexOf(PDF_END);
  // Readers repair a PDF without an end marker; then no byte is known to belong to it.
  const behind = end === -1 ? bytes.subarray(1) : withoutBlanks(bytes.subarray(end + PDF_END.length));
  const other = await fileTypeFromBuffer(behind).catch(() => undefined);
  return other !== undefined || holdsOther(behind) || isMarkup(behind) ? refuse(SEVERAL) : null;
};

const withoutBlanks = (bytes: Buffer): Buffer => {
  const first = bytes.findIndex((byte) => byte > 0x20);
  return first === -1 ? Buffer.alloc(0) : bytes.subarray(first);
};
