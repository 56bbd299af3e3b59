// Forms of the dashboard that contain files (multipart/form-data, RFC 7578). Browsers send the fields in the page's order, and the token is
// the first one of every form. So a form is known to be genuine before its first file is read, and no address contains the token.
import { on } from 'node:events';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { FORM_BYTES_MAX, type Form, formOf, HAS_NUL } from './forms.ts';

export interface SentFile {
  /** As the browser names it. */
  readonly fileName: string;
  /** As the browser guesses it, without parameters. */
  readonly contentType: string;
  /** Iterating throws the errors of the body's chunks, and BodyMalformed if the form is incomplete. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** The fields that come before the first file, and the files. */
export interface FileForm extends Form {
  /** The files in the order of the form. Each can be read once; unread parts are skipped. */
  readonly files: AsyncGenerator<SentFile>;
}

/** Skips the files that were not read, because a browser that is still sending would not show the response. */
export const skipRest = async ({ files }: FileForm): Promise<void> => {
  while (!(await files.next()).done);
};

/** Returns the file's first `bytesMax` bytes, or all if it has fewer. */
export const bytesOf = async ({ chunks }: SentFile, bytesMax: number): Promise<Buffer> => {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(read).subarray(0, bytesMax);
};

/** The body is not a complete form. */
export class BodyMalformed extends Error {}

/** No form has more parts. Further parts are skipped. */
const PARTS_MAX = 64;
const LIMITS = { fieldSize: FORM_BYTES_MAX, parts: PARTS_MAX, headerPairs: 16, headerSize: 16 * 1024 };
export const MALFORMED_FORM = reject('invalid_request', 'The body is not a complete form.');

type FileEvent = readonly [field: string, BusboyFileStream, name: string | undefined, encoding: string, type: string];

/** Returns the parser, or null if the type names no boundary. */
const parserOf = (contentType: string): BusboyInstance | null => {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS, preservePath: true });
  } catch {
    return null;
  }
};

/** Parses the chunks as fast as the files are read. Any failure ends the parser and the open file. */
const parse = async (parser: BusboyInstance, chunks: AsyncIterable<Buffer>): Promise<void> => {
  let open: BusboyFileStream | null = null;
  const fail = (error: Error): void => {
    open?.destroy(error);
    parser.destroy(error);
  };
  parser.on('file', (_name, stream) => {
    stream.on('error', () => undefined); // its reader gets it, if there is one
    open = stream;
  });
  parser.on('error', (error) => fail(error as Error));
  try {
    for await (const chunk of chunks) await new Promise<void>((taken) => parser.write(chunk, () => taken()));
    parser.end();
  } catch (error) {
    fail(error as Error);
  }
};

/** Converts the parser's errors. Errors of the chunks have types of their own and are returned unchanged. */
const failure = (error: unknown): unknown =>
  error instanceof Error && error.constructor === Error ? new BodyMalformed(error.message) : error;

async function* chunksOf(stream: BusboyFileStream): AsyncGenerator<Buffer> {
  try {
    // If the reader stops early, the rest can still be skipped.
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw failure(error);
  }
}

async function* filesOf(
  arrivals: AsyncIterator<FileEvent>,
  first: IteratorResult<FileEvent>,
): AsyncGenerator<SentFile> {
  for (let next = first; !next.done; next = await nextOf(arrivals)) {
    const [, stream, fileName = '', , contentType] = next.value;
    // An input without a chosen file is sent as a file without a name.
    if (fileName !== '') yield { fileName, contentType, chunks: chunksOf(stream) };
    stream.resume();
  }
}

const nextOf = (arrivals: AsyncIterator<FileEvent>): Promise<IteratorResult<FileEvent>> =>
  arrivals.next().catch((error: unknown) => {
    throw failure(error);
  });

/** Reads the fields up to the first file. Throws the errors of the chunks. */
export const readFileForm = async (
  contentType: string | undefined,
  chunks: AsyncIterable<Buffer>,
): Promise<{ readonly body: FileForm } | Rejection> => {
  if (contentType === undefined || !/^multipart\/form-data(?:;|$)/i.test(contentType))
    return reject('unsupported_media_type', 'The body must be multipart/form-data.');
  const parser = parserOf(contentType);
  if (parser === null) return MALFORMED_FORM;
  const fields = new URLSearchParams();
  parser.on('field', (name, value) => fields.append(name, value));
  const arrivals = on(parser, 'file', { close: ['finish'] }) as AsyncIterator<FileEvent>;
  void parse(parser, chunks);
  const first = await nextOf(arrivals);
  if ([...fields].flat().some((text) => text.includes('\0'))) return HAS_NUL;
  return { body: { ...formOf(new URLSearchParams(fields)), files: filesOf(arrivals, first) } };
};
