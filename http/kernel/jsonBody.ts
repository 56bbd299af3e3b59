// Reads a JSON body of at most 64 kB; everything else is a documented 4xx (rules E1, E7).
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { type ErrorCode, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { mayHoldBadStrings } from './validation.ts';

export const BODY_BYTES_MAX = 64 * 1024;

interface WithBody extends Request {
  mayHoldBadStrings?: boolean;
}

const parser: RequestHandler = express.json({
  limit: BODY_BYTES_MAX,
  strict: false, // what is not an object is refused by the schema, with a better message
  type: 'application/json',
  verify: (req, _res, raw) => {
    (req as WithBody).mayHoldBadStrings = mayHoldBadStrings(raw.toString('latin1'));
  },
});

/** Checked here: the parser would also read utf-7, utf-16 and utf-32, in which escapes hide from `mayHoldBadStrings`. */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-8"?\s*(?:;|$))/i;

const hasBody = (req: Request): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const TOO_LARGE = `The body is larger than ${BODY_BYTES_MAX} bytes.`;
const CODES: { readonly [type: string]: readonly [ErrorCode, string] } = {
  'entity.parse.failed': ['invalid_json', 'The body is not valid JSON.'],
  'entity.too.large': ['payload_too_large', TOO_LARGE],
  'charset.unsupported': ['unsupported_media_type', 'The body must be in UTF-8.'],
  'encoding.unsupported': ['unsupported_media_type', 'The Content-Encoding is not supported.'],
};

/** undefined: there was none. */
export const readJsonBody = (
  req: Request,
  res: Response,
): Promise<{ body: unknown; mayHoldBadStrings: boolean } | Rejection> =>
  new Promise((resolve) => {
    if (!hasBody(req)) return resolve({ body: undefined, mayHoldBadStrings: false });
    if (!req.is('application/json'))
      return resolve(reject('unsupported_media_type', 'The body must be application/json.'));
    if (OTHER_CHARSET.test(req.headers['content-type'] ?? ''))
      return resolve(reject('unsupported_media_type', 'The body must be in UTF-8.'));
    // Told at once; the parser would wait for the whole upload first. Node drains what still comes.
    if (Number(req.headers['content-length'] ?? 0) > BODY_BYTES_MAX)
      return resolve(reject('payload_too_large', TOO_LARGE));
    if (req.headers['content-encoding'] === undefined) return resolve(readPlain(req, res));
    const done: NextFunction = (error?: unknown) => {
      if (!error)
        return resolve({ body: req.body as unknown, mayHoldBadStrings: (req as WithBody).mayHoldBadStrings === true });
      resolve(refuse((error as { type?: string }).type, res));
    };
    parser(req, res, done);
  });

const refuse = (type: string | undefined, res: Response): Rejection => {
  const [code, message] = CODES[type ?? ''] ?? (['invalid_request', 'The body could not be read.'] as const);
  if (code === 'payload_too_large') res.setHeader('Connection', 'close'); // the rest of the upload is not waited for
  return reject(code, message);
};

/** Drops a byte order mark; what is not UTF-8 becomes U+FFFD, as in the general parser. */
const utf8 = new TextDecoder();

/** What nearly every client sends is not compressed: read here, at a fraction of what the general parser costs. */
const readPlain = async (
  req: Request,
  res: Response,
): Promise<{ body: unknown; mayHoldBadStrings: boolean } | Rejection> => {
  const raw = await bytesOf(req).catch(() => undefined);
  if (raw === undefined) return refuse('request.aborted', res);
  if (raw === null) return refuse('entity.too.large', res);
  if (raw.length === 0) return { body: {}, mayHoldBadStrings: false };
  const text = utf8.decode(raw);
  try {
    return { body: JSON.parse(text) as unknown, mayHoldBadStrings: mayHoldBadStrings(text) };
  } catch {
    return refuse('entity.parse.failed', res);
  }
};

/** null: there are too many. Rejects when the client goes away. */
const bytesOf = (req: Request): Promise<Buffer | null> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) return;
      req.off('data', take).pause();
      resolve(null);
    };
    req.on('data', take);
    req.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    req.once('error', reject);
  });
