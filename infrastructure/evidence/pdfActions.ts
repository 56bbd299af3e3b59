// Detects PDFs that run code when opened: JavaScript and launch actions (ISO 32000-1, 12.6.4). It searches for names in the whole file and
// in compressed objects, and interprets nothing. A reader may find objects anywhere, so a name inside other data counts too.
import { constants, inflateSync } from 'node:zlib';

/** Returns a pattern for a name, in which any character may be written as `#` and two hexadecimal digits. */
const spelled = (name: string): string =>
  [...name]
    .map((char) => {
      const hex = char.charCodeAt(0).toString(16);
      return `(?:${char}|#${hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
    })
    .join('');
const named = (...names: readonly string[]): RegExp =>
  new RegExp(`/(?:${names.map(spelled).join('|')})(?![^\\s\\0()<>[\\]{}/%])`);

/** Names long enough not to occur in compressed data by chance. Renditions and XFA forms contain scripts. */
const ACTIONS = named('JavaScript', 'Launch', 'Rendition', 'XFA');
const SCRIPT = named('JS');

const STREAM = /\bstream(?:\r\n|\n)/g;
const STREAM_END = 'endstream';
const STREAMS_MAX = 50_000;
const NOT_BLANK = /[^\s\0]/;
/** Object streams begin with object numbers. Some pages begin likewise. They are examined too, as is a head that ends in the numbers. */
const LIKE_OBJECTS = /^(?:%|\d+(?:[\s\0]+\d|[\s\0]*$))/;
const HEAD_BYTES = 512;
/** Largest expansion factor of deflate. */
const DEFLATE_FACTOR_MAX = 1_032;
/** Limit for the bytes of all such streams of a file, compressed and inflated together. */
const EXAMINED_MAX = 50_331_648;
/** Limit for the inflated heads of all streams of a file: thousands of images of one color. */
const HEADS_MAX = 536_870_912;

const UNSAFE = 'contains JavaScript or launch actions';
const UNREADABLE = 'contains compressed objects that cannot be examined';

/** Returns why the PDF is refused, or null. */
export const actionProblem = (bytes: Buffer): string | null => {
  const text = bytes.toString('latin1');
  if (ACTIONS.test(text)) return UNSAFE;
  let left = EXAMINED_MAX;
  let headsLeft = HEADS_MAX;
  let streams = 0;
  let behind = 0;
  for (const { index, 0: keyword } of text.matchAll(STREAM)) {
    if (++streams > STREAMS_MAX) return UNREADABLE;
    if (index >= behind && SCRIPT.test(text.slice(behind, index))) return UNSAFE;
    const begin = index + keyword.length;
    // Searches for the end of a stream only once, even if many seem to begin in it.
    if (begin > behind) {
      const end = text.indexOf(STREAM_END, begin);
      behind = end === -1 ? text.length : end;
    }
    // A stream that seems to be inside another one is examined too, because a reader may find it.
    const stream = bytes.subarray(begin, behind);
    const head = headOf(stream);
    if (head === null) continue;
    headsLeft -= head.length;
    if (headsLeft < 0) return UNREADABLE;
    if (!mayBeObjects(head)) continue;
    left -= stream.length;
    const objects = left > 0 ? inflated(stream, left) : null;
    if (objects === null) return UNREADABLE;
    left -= objects.length;
    if (ACTIONS.test(objects) || SCRIPT.test(objects)) return UNSAFE;
  }
  return SCRIPT.test(text.slice(behind)) ? UNSAFE : null;
};

/** Returns how the stream begins when it is inflated, or null if it is not compressed. */
const headOf = (stream: Buffer): string | null => {
  // The two header bytes of a zlib stream (RFC 1950).
  if (stream.length < 2 || ((stream[0] as number) & 0x0f) !== 8 || stream.readUInt16BE(0) % 31 !== 0) return null;
  return inflated(stream.subarray(0, HEAD_BYTES), HEAD_BYTES * DEFLATE_FACTOR_MAX);
};

/** An empty or blank head gives no information about the rest. */
const mayBeObjects = (head: string): boolean => {
  const begin = head.search(NOT_BLANK);
  return begin === -1 || LIKE_OBJECTS.test(head.slice(begin));
};

/** Returns the inflated text, also of a stream that is truncated or damaged at its end. Returns null if it exceeds the bound. */
const inflated = (stream: Buffer, bytesMax: number): string | null => {
  try {
    return inflateSync(stream, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: bytesMax,
    }).toString('latin1');
  } catch (error) {
    return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? null : '';
  }
};
