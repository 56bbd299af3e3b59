// X-Request-Id on every answer (contract.md Errors, rule E7).
import { randomFillSync } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/;

const ID_BYTES = 16;
/** Random bytes for the next ids: one call to the generator for 256 of them. */
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

export const newRequestId = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return PREFIX.request + encodeRawId(pool.subarray(used - ID_BYTES, used));
};

export const requestId = (req: Request, res: Response, next: NextFunction): void => {
  const sent = req.headers['x-request-id'];
  const id = typeof sent === 'string' && ECHOED.test(sent) ? sent : newRequestId();
  (req as { requestId?: string }).requestId = id;
  res.setHeader('X-Request-Id', id);
  next();
};
