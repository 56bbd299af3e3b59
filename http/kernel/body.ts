// The body of a request, as its route takes it.
import type { Request, Response } from 'express';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { readJsonBody } from './jsonBody.ts';
import type { Place } from './overload.ts';
import type { BodyRule, StreamBody, ValidationContext } from './route.ts';
import { bodyValidator } from './validation.ts';

export type BodyReader = (
  req: Request,
  res: Response,
  place: Place,
  context: ValidationContext,
) => Promise<{ readonly body: unknown } | Rejection>;

export const bodyReader = (rule: BodyRule): BodyReader => {
  if (rule.kind === 'none') return async () => ({ body: undefined });
  if (rule.kind === 'stream') return async (req, _res, place) => openBody(rule, req, place);
  const validate = bodyValidator(rule);
  return async (req, res, place, context) => {
    const read = await place.waiting(readJsonBody(req, res));
    if (isRejection(read)) return read;
    return validate(read.body === undefined ? {} : read.body, read.mayHoldBadStrings, context);
  };
};

/** More bytes came than the route takes. */
export class PayloadTooLarge extends Error {}

const openBody = ({ contentTypes, bytesMax }: StreamBody, req: Request, place: Place) => {
  if (!req.is([...contentTypes]))
    return reject('unsupported_media_type', `The body must be ${contentTypes.join(' or ')}.`);
  return Number(req.headers['content-length'] ?? 0) > bytesMax
    ? reject('payload_too_large', `The body is larger than ${bytesMax} bytes.`)
    : { body: chunksOf(req, place, bytesMax) };
};

/** Throws PayloadTooLarge after so many bytes. */
async function* chunksOf(req: Request, place: Place, bytesMax: number): AsyncGenerator<Buffer> {
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let bytes = 0;
  for (;;) {
    const next = await place.waiting(chunks.next());
    if (next.done) return;
    bytes += next.value.length;
    if (bytes > bytesMax) throw new PayloadTooLarge(`more than ${bytesMax} bytes`);
    yield next.value;
  }
}
