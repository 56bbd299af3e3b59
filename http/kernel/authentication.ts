// Who calls (contract.md Authentication). The cleartext key is compared by its SHA-256 and kept nowhere.
import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { Caller } from './route.ts';
import type { Services } from './services.ts';

/** In a time that tells only whether they have the same length. */
export const isSameSecret = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const KEY = /^ak_(?:test|live)_[A-Za-z0-9_-]{32}$/;
const ACTOR_HEX = 16;

/** Why it is nobody's: for the log, never for the caller. */
export const failureOf = (req: Request): 'missing' | 'malformed' | 'unknown' => {
  const sent = req.headers['apikey'];
  if (sent === undefined || sent === '') return 'missing';
  return typeof sent === 'string' && KEY.test(sent) ? 'unknown' : 'malformed';
};

export const authenticate = async (req: Request, services: Services): Promise<Caller | Rejection> => {
  const sent = req.headers['apikey'];
  const key = typeof sent === 'string' && KEY.test(sent) ? await services.findKey(sent) : null;
  if (key === null) return reject('unauthorized', 'The apikey header is missing or is not a valid API key.');
  const account = await services.accounts.get(key.accountId);
  return {
    account,
    tenant: { accountId: key.accountId, mode: key.mode },
    actor: `key:${key.fingerprint.slice(0, ACTOR_HEX)}`,
  };
};
