// Headers of every answer: X-Request-Id (contract.md Errors, rule E7), and HSTS.
import type { NextFunction, Request, Response } from 'express';
import type { Clock } from '../../application/ports/clock.ts';
import type { Randomness } from '../../application/ports/randomness.ts';
import { BEHIND_TIME, encodeTimedId, PREFIX } from '../../domain/kernel/ids.ts';

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/;

export const newRequestId = (clock: Clock, randomness: Randomness): string =>
  PREFIX.request + encodeTimedId(clock.now(), randomness.bytes(BEHIND_TIME));

/** `always`: headers that every answer has besides. */
export const requestId =
  (newId: () => string, always: ReadonlyMap<string, string>) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const sent = req.headers['x-request-id'];
    const id = typeof sent === 'string' && ECHOED.test(sent) ? sent : newId();
    (req as { requestId?: string }).requestId = id;
    res.setHeader('X-Request-Id', id);
    for (const [name, value] of always) res.setHeader(name, value);
    next();
  };
