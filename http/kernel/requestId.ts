// X-Request-Id on every answer (contract.md Errors, rule E7).
import type { NextFunction, Request, Response } from 'express';
import type { Randomness } from '../../application/ports/randomness.ts';
import { encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/;

export const newRequestId = (randomness: Randomness): string => PREFIX.request + encodeRawId(randomness.bytes(16));

export const requestId =
  (randomness: Randomness) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const sent = req.headers['x-request-id'];
    const id = typeof sent === 'string' && ECHOED.test(sent) ? sent : newRequestId(randomness);
    (req as { requestId?: string }).requestId = id;
    res.setHeader('X-Request-Id', id);
    next();
  };
