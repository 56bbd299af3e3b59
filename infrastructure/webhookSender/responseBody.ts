// Reads the beginning of an answer's body, up to a fixed limit (rule W4).
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants as zlib } from 'node:zlib';

/** Limit for the encoded and for the decoded body; further bytes are dropped. */
const MAX_READ_BYTES = 16_384;
/** Limit for the stored text, in UTF-8 bytes. */
const MAX_KEPT_BYTES = 4_096;

export interface BodyReader {
  push(chunk: Buffer): void;
  /** The answer is complete. */
  end(): void;
  /** Returns the text decoded so far, at most 4 KiB, or null if there was none. */
  text(): string | null;
  /** Frees the decoder. */
  close(): void;
}

/** `done` is called once: when the complete body is decoded, or as soon as more than 16 KiB have arrived. */
export function openBodyReader(contentEncoding: unknown, done: () => void): BodyReader {
  const decoder = decoderFor(contentEncoding);
  return decoder === null ? plainReader(done) : decodingReader(decoder, done);
}

function plainReader(done: () => void): BodyReader {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    push(chunk) {
      if (length > MAX_READ_BYTES) return;
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_READ_BYTES) done();
    },
    end: () => {
      if (length <= MAX_READ_BYTES) done();
    },
    text: () => bodyText(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    close() {},
  };
}

type DecoderStream = NodeJS.ReadWriteStream & { destroy(): void };
/** Opens a decoder with the first bytes. Returns null if none is free; the body then stays encoded. */
type Decoder = (first: Buffer) => DecoderStream | null;

function decodingReader(open: Decoder, done: () => void): BodyReader {
  let ended = false;
  let input: Pick<BodyReader, 'push' | 'end' | 'close'> | null = null;
  const decoded = plainReader(finish);

  function finish(): void {
    if (ended) return;
    ended = true;
    input?.close();
    done();
  }

  return {
    push(chunk) {
      if (ended || chunk.length === 0) return;
      input ??= inputOf(open(chunk), decoded, finish);
      input.push(chunk);
    },
    end() {
      if (input === null) finish();
      else input.end();
    },
    text: decoded.text,
    close() {
      ended = true;
      input?.close();
    },
  };
}

/** Passes at most 16 KiB of an encoded body through the decoder into `decoded`. Without a decoder, the bytes stay encoded. */
function inputOf(decoder: DecoderStream | null, decoded: BodyReader, finish: () => void) {
  if (decoder === null) return decoded;
  let wireBytes = 0;
  // A body that can't be decoded ends at the error: a broken coding does not make a 2xx a failure.
  decoder.on('data', decoded.push).on('end', finish).on('error', finish);
  return {
    push(chunk: Buffer): void {
      if (wireBytes > MAX_READ_BYTES) return;
      decoder.write(chunk.subarray(0, MAX_READ_BYTES - wireBytes));
      wireBytes += chunk.length;
      if (wireBytes > MAX_READ_BYTES) decoder.end();
    },
    end(): void {
      if (wireBytes <= MAX_READ_BYTES) decoder.end();
    },
    close: () => decoder.destroy(),
  };
}

// The flush at the end returns the content of a truncated stream. The small chunk size keeps a zip bomb to one chunk beyond the limit.
const LIMITS = { chunkSize: MAX_READ_BYTES, finishFlush: zlib.Z_SYNC_FLUSH };

/**
 * Concurrent Brotli decoders. Each fills its window before it returns a byte, and the response sets the size of the window. A response of
 * 53 bytes takes 16 MiB, and for 40 ms one of the four threads that all files of the process share.
 */
const BROTLI_MAX = 2;
let brotliOpen = 0;

function openBrotli(): DecoderStream {
  brotliOpen += 1;
  const decoder = createBrotliDecompress({
    chunkSize: MAX_READ_BYTES,
    finishFlush: zlib.BROTLI_OPERATION_FLUSH,
  });
  return decoder.once('close', () => {
    brotliOpen -= 1;
  });
}

/** Returns null if the body is not encoded, or in an unsupported way (several codings, unknown ones). */
function decoderFor(contentEncoding: unknown): Decoder | null {
  if (typeof contentEncoding !== 'string') return null;
  switch (contentEncoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return () => createGunzip(LIMITS);
    case 'deflate':
      // Some servers mean raw deflate; the first nibble of a zlib stream is 8 (RFC 1950 §2.2).
      return (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate(LIMITS) : createInflateRaw(LIMITS));
    case 'br':
      return () => (brotliOpen < BROTLI_MAX ? openBrotli() : null);
    default:
      return null;
  }
}

/** Returns at most 4 KiB of UTF-8, cut between characters. NUL, which PostgreSQL can't store, and broken UTF-8 become U+FFFD. */
export function bodyText(bytes: Buffer): string | null {
  if (bytes.length === 0) return null;
  const cut = bytes.length > MAX_KEPT_BYTES;
  const head = cut ? bytes.subarray(0, MAX_KEPT_BYTES) : bytes;
  // `stream` omits a character that was cut, instead of replacing it.
  const text = cut
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: true })
    : head.toString('utf8');
  return withinBytes(text.replaceAll('\0', '\uFFFD'));
}

// A replacement takes three bytes, so replaced text can be longer than its source.
function withinBytes(text: string): string {
  if (text.length * 3 <= MAX_KEPT_BYTES || Buffer.byteLength(text) <= MAX_KEPT_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_KEPT_BYTES));
  return text.slice(0, read);
}
