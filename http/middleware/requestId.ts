// X-Request-Id on every answer (interface.md Errors, decisions E7).
import { randomBytes } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/;

export const newRequestId = (): string => PREFIX.request + encodeRawId(randomBytes(16));

export const requestId = (req: Request, res: Response, next: NextFunction): void => {
  const sent = req.headers['x-request-id'];
  const id = typeof sent === 'string' && ECHOED.test(sent) ? sent : newRequestId();
  (req as { requestId?: string }).requestId = id;
  res.setHeader('X-Request-Id', id);
  next();
};
