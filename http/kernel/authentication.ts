// Who calls: with an API key or with a token of the dashboard (contract.md Authentication). A cleartext key is compared by its SHA-256 and
// kept nowhere.

import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { shownFingerprint } from '../../application/accounts/newKey.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { USER } from '../../domain/user/user.ts';
import type { Refusal } from './answers.ts';
import type { Caller, OperatorCaller, SessionCaller } from './callers.ts';
import type { GatewayServices } from './serverContext.ts';

/** In a time that tells only whether they have the same length. */
export const isSameSecret = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const KEY = /^ak_(?:test|live)_[A-Za-z0-9_-]{32}$/;

/** Why a request has no caller. Well-formed keys that don't work are all `unknown`, whether they ever existed or not. */
type AuthenticationFailure = 'missing' | 'malformed' | 'unknown';

export const failureOf = (req: Request): AuthenticationFailure => {
  const sent = req.headers['apikey'];
  if (sent === undefined || sent === '') return 'missing';
  return typeof sent === 'string' && KEY.test(sent) ? 'unknown' : 'malformed';
};

/** Headers in which other gateways take their keys. */
const OTHER_KEY_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-apikey', 'x-auth-token'] as const;

const NO_KEY_MESSAGES: { readonly [Failure in AuthenticationFailure]: string } = {
  missing: 'The `apikey` header is missing.',
  malformed:
    'The API key is malformed: it has the form `ak_live_` or `ak_test_` and 32 characters, without spaces around it.',
  unknown: 'The API key is invalid.',
};

const noKey = (req: Request): Rejection => {
  const failure = failureOf(req);
  const elsewhere = failure === 'missing' ? OTHER_KEY_HEADERS.find((name) => req.headers[name]) : undefined;
  const hint =
    elsewhere === undefined ? '' : ` The request has the header \`${elsewhere}\`: send the key as \`apikey\`.`;
  return reject('unauthorized', NO_KEY_MESSAGES[failure] + hint);
};

export const authenticate = async (req: Request, services: GatewayServices): Promise<Caller | Rejection> => {
  const sent = req.headers['apikey'];
  const key = typeof sent === 'string' && KEY.test(sent) ? await services.findKey(sent) : null;
  if (key === null) return noKey(req);
  const account = await services.accounts.get(key.accountId);
  return {
    account,
    tenant: { accountId: key.accountId, mode: key.mode },
    actor: `key:${shownFingerprint(key.fingerprint)}`,
  };
};

/** A JWT in its compact form; longer ones than any of ours are not looked at. */
const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
const AUTHORIZATION_LENGTH_MAX = 2_048;

/** null of two headers, too: Node would take the first one, and a proxy may have looked at the other. */
const tokenIn = ({ headersDistinct: { authorization } }: Request): string | null => {
  const [sent = '', ...others] = authorization ?? [];
  return others.length === 0 && sent.length <= AUTHORIZATION_LENGTH_MAX ? (BEARER.exec(sent)?.[1] ?? null) : null;
};

export const tokenFailureOf = (req: Request): AuthenticationFailure => {
  if (!req.headers.authorization) return 'missing';
  return tokenIn(req) === null ? 'malformed' : 'unknown';
};

const NO_TOKEN_MESSAGES: { readonly [Failure in AuthenticationFailure]: string } = {
  missing: 'The `Authorization` header is missing.',
  malformed: 'The `Authorization` header must be `Bearer` and a token of the dashboard.',
  unknown: 'The token is invalid, or its session has ended.',
};

const noSession = (req: Request): Refusal => {
  const failure = tokenFailureOf(req);
  const hint =
    failure === 'missing' && req.headers['apikey'] ? ' This route takes no API key: log in and send the token.' : '';
  return {
    ...reject('unauthorized', NO_TOKEN_MESSAGES[failure] + hint),
    headers: { 'WWW-Authenticate': 'Bearer' },
  };
};

/** What has ended a session counts at once; the role is the user's present one, whatever the token says. */
export const authenticateSession = async (
  req: Request,
  services: GatewayServices,
): Promise<SessionCaller | OperatorCaller | Refusal> => {
  const token = tokenIn(req);
  const found = token === null ? null : await services.findSession(token);
  if (found === null) return noSession(req);
  const { sessionId, user, account } = found;
  const { userId, email, name, role } = user;
  const caller = { sessionId, userId, email, name, actor: `user:${USER.idPrefix}${userId}` };
  if (role === 'OPERATOR' || account === null)
    return { ...caller, role: 'OPERATOR', hasSecondFactor: user.secondFactorId !== null };
  return { ...caller, role, account, tenant: { accountId: account.accountId, mode: 'live' } };
};
