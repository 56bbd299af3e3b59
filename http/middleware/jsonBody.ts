// Reads a JSON body of at most 64 kB; everything else is a documented 4xx (decisions E1, E7).
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { type ErrorCode, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { mayHoldBadStrings } from '../validation.ts';

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

const hasBody = (req: Request): boolean => req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const CODES: { readonly [type: string]: readonly [ErrorCode, string] } = {
  'entity.parse.failed': ['invalid_json', 'The body is not valid JSON.'],
  'entity.too.large': ['payload_too_large', `The body is larger than ${BODY_BYTES_MAX} bytes.`],
  'charset.unsupported': ['unsupported_media_type', 'The body must be in UTF-8.'],
  'encoding.unsupported': ['unsupported_media_type', 'The Content-Encoding is not supported.'],
};

/** undefined: there was none. */
export const readJsonBody = (req: Request, res: Response): Promise<{ body: unknown; mayHoldBadStrings: boolean } | Rejection> =>
  new Promise((resolve) => {
    if (!hasBody(req)) return resolve({ body: undefined, mayHoldBadStrings: false });
    if (!req.is('application/json')) return resolve(reject('unsupported_media_type', 'The body must be application/json.'));
    const done: NextFunction = (error?: unknown) => {
      if (!error) return resolve({ body: req.body as unknown, mayHoldBadStrings: (req as WithBody).mayHoldBadStrings === true });
      const [code, message] = CODES[(error as { type?: string }).type ?? ''] ?? ['invalid_request', 'The body could not be read.'];
      if (code === 'payload_too_large') res.setHeader('Connection', 'close'); // the rest of the upload is not waited for
      resolve(reject(code as ErrorCode, message as string));
    };
    parser(req, res, done);
  });
