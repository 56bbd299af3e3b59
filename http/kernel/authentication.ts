// Authenticates callers by API key or dashboard token (contract.md Authentication). A cleartext key is compared by its SHA-256 and never
// stored.

import type { Request } from 'express';
import { shownFingerprint } from '../../application/accounts/apiKeys.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { USER } from '../../domain/user/user.ts';
import type { Refusal } from './answers.ts';
import type { Caller, Callers, OperatorCaller, SessionCaller } from './callers.ts';
import { cookieIn, sessionCookieName } from './cookies.ts';
import { csrfTokenOf } from './forms.ts';
import type { GatewayServices } from './serverContext.ts';

const KEY = /^ak_(?:test|live)_[A-Za-z0-9_-]{32}$/;

/** Why authentication failed. Well-formed keys that don't work are all `unknown`, whether or not they ever existed. */
type AuthenticationFailure = 'missing' | 'malformed' | 'unknown';

export const failureOf = (req: Request): AuthenticationFailure => {
  const sent = req.headers['apikey'];
  if (sent === undefined || sent === '') return 'missing';
  return typeof sent === 'string' && KEY.test(sent) ? 'unknown' : 'malformed';
};

/** Headers that other gateways use for their keys. */
const OTHER_KEY_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-apikey', 'x-auth-token'] as const;

const NO_KEY_MESSAGES: { readonly [Failure in AuthenticationFailure]: string } = {
  missing: 'The `apikey` header is missing.',
  malformed:
    'The API key is malformed. A key is `ak_live_` or `ak_test_` followed by 32 characters, without surrounding spaces.',
  unknown: 'The API key is invalid.',
};

const noKey = (req: Request): Rejection => {
  const failure = failureOf(req);
  const elsewhere = failure === 'missing' ? OTHER_KEY_HEADERS.find((name) => req.headers[name]) : undefined;
  const hint =
    elsewhere === undefined ? '' : ` The request has the header \`${elsewhere}\`: send the key in \`apikey\` instead.`;
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

/** A JWT in compact form. Headers longer than any token that Quita issues are rejected unread. */
const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
const AUTHORIZATION_LENGTH_MAX = 2_048;

/** Returns the token, or null if absent. Two headers give null: Node would use the first, but a proxy may have checked the other. */
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
  malformed: 'The `Authorization` header must be `Bearer` followed by a dashboard token.',
  unknown: 'The token is invalid, or its session has ended.',
};

const noSession = (req: Request): Refusal => {
  const failure = tokenFailureOf(req);
  const hint =
    failure === 'missing' && req.headers['apikey']
      ? ' This route does not accept API keys: log in and send the token.'
      : '';
  return {
    ...reject('unauthorized', NO_TOKEN_MESSAGES[failure] + hint),
    headers: { 'WWW-Authenticate': 'Bearer' },
  };
};

/** Returns the caller of a dashboard token, or null. Ended sessions fail at once; the role is the user's current one. */
const callerOf = async (
  token: string | null,
  services: GatewayServices,
): Promise<SessionCaller | OperatorCaller | null> => {
  const found = token === null ? null : await services.findSession(token);
  if (found === null) return null;
  const { sessionId, user, account } = found;
  const { userId, email, name, role } = user;
  const caller = { sessionId, userId, email, name, actor: `user:${USER.idPrefix}${userId}` };
  if (role === 'OPERATOR' || account === null)
    return { ...caller, role: 'OPERATOR', hasSecondFactor: user.secondFactorId !== null };
  return { ...caller, role, account, tenant: { accountId: account.accountId, mode: 'live' } };
};

export const authenticateSession = async (
  req: Request,
  services: GatewayServices,
): Promise<SessionCaller | OperatorCaller | Refusal> => (await callerOf(tokenIn(req), services)) ?? noSession(req);

const NO_COOKIE = reject('unauthorized', 'Sign in first: the session has ended, or the browser sent no cookie of it.');

/** As `authenticateSession`, by the dashboard's cookie. */
export const authenticateMember = async (
  req: Request,
  services: GatewayServices,
): Promise<Callers['anyMember'] | Refusal> => {
  const token = cookieIn(req, sessionCookieName(services.baseUrl));
  const caller = await callerOf(token, services);
  return caller === null || token === null ? NO_COOKIE : { ...caller, csrf: csrfTokenOf(token) };
};

const AUDIT_BEARER = /^Bearer (audit_[\w-]{43})$/i;

/** Returns the auditor's token in the request, or null. Two headers give null, as for dashboard tokens. */
export const auditTokenIn = ({ headersDistinct: { authorization } }: Request): string | null => {
  const [sent = '', ...others] = authorization ?? [];
  return others.length === 0 ? (AUDIT_BEARER.exec(sent)?.[1] ?? null) : null;
};

export const auditTokenFailureOf = (req: Request): AuthenticationFailure => {
  if (!req.headers.authorization) return 'missing';
  return auditTokenIn(req) === null ? 'malformed' : 'unknown';
};
