// Whether a PDF runs code when somebody opens it: JavaScript and launch actions (ISO 32000-1, 12.6.4). Names are looked for in the whole
// file and in compressed objects; nothing is interpreted. A reader may find objects anywhere, so a name inside other data counts, too.
import { constants, inflateSync } from 'node:zlib';

/** Names may spell any character as `#` and two hexadecimal digits. */
const spelled = (name: string): string =>
  [...name]
    .map((char) => {
      const hex = char.charCodeAt(0).toString(16);
      return `(?:${char}|#${hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
    })
    .join('');
const named = (...names: readonly string[]): RegExp =>
  new RegExp(`/(?:${names.map(spelled).join('|')})(?![^\\s\\0()<>[\\]{}/%])`);

/** Long enough to stand in compressed data by chance never. Renditions and XFA forms bring scripts of their own. */
const ACTIONS = named('JavaScript', 'Launch', 'Rendition', 'XFA');
const SCRIPT = named('JS');

const STREAM = /\bstream(?:\r\n|\n)/g;
const STREAM_END = 'endstream';
const STREAMS_MAX = 50_000;
/** Objects in a stream begin with their numbers; so do some pages, which are looked at as well. */
const LIKE_OBJECTS = /^[\s\0]*(?:%|\d+[\s\0]+\d+)/;
const HEAD_BYTES = 512;
/** Deflate makes at most so many bytes of one. */
const DEFLATE_FACTOR_MAX = 1_032;
/** Bytes of all such streams of a file, before and after they are inflated. */
const EXAMINED_MAX = 50_331_648;

const UNSAFE = 'contains JavaScript or launch actions';
const UNREADABLE = 'contains compressed objects that cannot be examined';

/** Returns why the PDF is refused, or null. */
export const actionProblem = (bytes: Buffer): string | null => {
  const text = bytes.toString('latin1');
  if (ACTIONS.test(text)) return UNSAFE;
  let left = EXAMINED_MAX;
  let streams = 0;
  let behind = 0;
  for (const { index, 0: keyword } of text.matchAll(STREAM)) {
    if (++streams > STREAMS_MAX) return UNREADABLE;
    if (index >= behind && SCRIPT.test(text.slice(behind, index))) return UNSAFE;
    const begin = index + keyword.length;
    // One look for the end of each stream, however many seem to begin in it.
    if (begin > behind) {
      const end = text.indexOf(STREAM_END, begin);
      behind = end === -1 ? text.length : end;
    }
    // A stream that seems to stand in another one is examined as well: a reader may find it there.
    const stream = bytes.subarray(begin, behind);
    if (!mayHoldObjects(stream)) continue;
    left -= stream.length;
    const objects = left > 0 ? inflated(stream, left) : null;
    if (objects === null) return UNREADABLE;
    left -= objects.length;
    if (ACTIONS.test(objects) || SCRIPT.test(objects)) return UNSAFE;
  }
  return SCRIPT.test(text.slice(behind)) ? UNSAFE : null;
};

const mayHoldObjects = (stream: Buffer): boolean => {
  // All that a compressed stream begins with (RFC 1950).
  if (stream.length < 2 || ((stream[0] as number) & 0x0f) !== 8 || stream.readUInt16BE(0) % 31 !== 0) return false;
  const head = inflated(stream.subarray(0, HEAD_BYTES), HEAD_BYTES * DEFLATE_FACTOR_MAX);
  return head !== null && LIKE_OBJECTS.test(head);
};

/** Returns what can be inflated, also of a stream that is cut off or damaged at its end; null if it is more than the bound. */
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
