// What the request log says of a request (rule D3): no body, no query, no secret.
import type { Request, Response } from 'express';
import type { AnsweredRequest } from '../../application/ports/requestLog.ts';
import type { Caller, Callers } from './callers.ts';
import { requestIdOf } from './errors.ts';

/** Whoever sent a right key or token. */
export type KnownCaller = Caller | Callers['anySession'];

const PATH_LENGTH_MAX = 256;
/** API keys and tokens, which clients should not put into a path; the cut may have shortened them. */
const SECRET = /ak_(?:test|live)_[\w-]+|eyJ[\w.-]+/g;
const KEY_ACTOR = 'key:';

/** Cut before it is masked: a path may be as long as the headers. */
const pathOf = ({ path }: Request): string => path.slice(0, PATH_LENGTH_MAX).replace(SECRET, '***');

export const answeredRequest = (
  req: Request,
  { statusCode }: Response,
  caller: KnownCaller,
  durationMs: number,
): AnsweredRequest => ({
  requestId: requestIdOf(req),
  accountId: 'tenant' in caller ? caller.tenant.accountId : null,
  // A user acts in both modes.
  mode: 'userId' in caller ? null : caller.tenant.mode,
  method: req.method,
  path: pathOf(req),
  status: statusCode,
  durationMs: Math.round(durationMs),
  keyFingerprint: caller.actor.startsWith(KEY_ACTOR) ? caller.actor.slice(KEY_ACTOR.length) : null,
  userId: 'userId' in caller ? caller.userId : null,
});
