// Who is let in: within the limits of a key or an address, and while there are places (rule E8).
import type { Request, Response } from 'express';
import type { ReportSecurityEvent } from '../../application/ports/securityEvents.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import type { KnownCaller } from './answered.ts';
import { authenticate, authenticateSession, failureOf, tokenFailureOf } from './authentication.ts';
import { type Caller, type Callers, isOfSession, type Principal } from './callers.ts';
import { requestIdOf } from './errors.ts';
import { isMonitor } from './health.ts';
import type { AddressLimit, Limited, RateLimit, WithoutKey } from './limits.ts';
import type { Overload, Place } from './overload.ts';
import type { Refusal } from './refusal.ts';
import type { LimitClass, Route } from './route.ts';
import type { AppServices } from './serverContext.ts';

export interface Admission {
  readonly services: AppServices;
  /** Who calls, of the principals that this kernel knows no credential of. */
  readonly authenticators?: {
    readonly [Who in 'provider']?: (req: Request) => Promise<Callers[Who] | Rejection>;
  };
  readonly rateLimit: RateLimit;
  readonly addressLimit: AddressLimit;
  readonly overload: Overload;
  readonly onSecurityEvent: ReportSecurityEvent;
}

export const OVERLOADED = reject('service_unavailable', 'Too many requests at once. Repeat this one a little later.');

/** What becomes known of a request on its way in. */
export interface Passage {
  readonly place: Place;
  /** Whose right key or token it bears, whatever becomes of it; null: nobody's. */
  caller: KnownCaller | null;
}

/** Counts a request without a right key for its address; null: within the limit. */
export const beyondAddressLimit = async (
  of: WithoutKey,
  req: Request,
  res: Response,
  { addressLimit, onSecurityEvent }: Admission,
): Promise<Rejection | null> => {
  const limited = await addressLimit(req, res, of);
  if (limited === null) return null;
  const { perMinute, network, isFirst, rejection } = limited;
  if (isFirst) onSecurityEvent({ security: 'rate_limited', of, perMinute, network, requestId: requestIdOf(req) });
  return rejection;
};

const LIVE_KEY = reject('mode_not_allowed', 'Sandbox routes take test keys only.');
const NO_ROUTE = reject('not_found', 'There is no such route.');

/** Whether a request takes a place among those in progress: what does not is answered however busy the process is. */
export const takesPlace = ({ limit }: Pick<Route, 'limit'>): boolean => limit !== 'readiness' && limit !== 'unlimited';

const isOfAddress = (limit: LimitClass): limit is LimitClass & WithoutKey =>
  limit === 'pages' || limit === 'catalogue' || limit === 'readiness' || limit === 'login';

/** Returns who calls, when it is whom the route asks for and within the limits of the key or the address. */
export const admit = async (
  route: Route,
  req: Request,
  res: Response,
  passage: Passage,
  options: Admission,
): Promise<Callers[Principal] | Refusal> => {
  const { principal, limit } = route;
  if (principal === 'apiKey' || principal === 'testKey') return admitKey(route, req, res, passage, options);
  if (isOfSession(principal)) return admitSession(route, req, res, passage, options);
  const limited = isOfAddress(limit) ? await beyondAddressLimit(limit, req, res, options) : null;
  if (limited) return limited;
  // Pages together have the share of one account, and so have logins.
  if ((limit === 'pages' || limit === 'login') && !passage.place.claim(limit)) return OVERLOADED;
  if (principal === 'public') return null;
  if (principal === 'monitor') return isMonitor(req, options.services.operations) ? null : NO_ROUTE;
  const identify = options.authenticators?.[principal];
  return identify === undefined ? NO_ROUTE : identify(req);
};

const reportFailure = (reason: 'missing' | 'malformed' | 'unknown', req: Request, { onSecurityEvent }: Admission) =>
  onSecurityEvent({
    security: 'authentication_failed',
    reason,
    network: networkOf(addressOf(req)),
    requestId: requestIdOf(req),
  });

/** Returns the refusal, after a report of the first one in a minute. */
const reported = (
  limited: Limited | null,
  { actor }: Pick<Caller, 'actor'>,
  req: Request,
  { onSecurityEvent }: Admission,
): Rejection | null => {
  if (limited === null) return null;
  const { perMinute, isFirst, rejection } = limited;
  if (isFirst) onSecurityEvent({ security: 'rate_limited', perMinute, actor, requestId: requestIdOf(req) });
  return rejection;
};

/** Only what fails counts for the address: a right key is never refused for wrong ones. */
const admitKey = async (
  route: Route,
  req: Request,
  res: Response,
  passage: Passage,
  options: Admission,
): Promise<Caller | Rejection> => {
  const { services, rateLimit } = options;
  const caller = await authenticate(req, services);
  if (isRejection(caller)) {
    reportFailure(failureOf(req), req, options);
    return (await beyondAddressLimit('keys', req, res, options)) ?? caller;
  }
  passage.caller = caller;
  const refused = reported(await rateLimit(caller, route, res), caller, req, options);
  if (refused) return refused;
  if (!passage.place.claim(caller.tenant.accountId)) return OVERLOADED;
  return route.principal === 'testKey' && caller.tenant.mode !== 'test' ? LIVE_KEY : caller;
};

const OPERATORS_ONLY = reject('role_required', 'Only operators of the platform may do this.');
const ENROL_FIRST = reject(
  'second_factor_enrolment_required',
  'Enrol a second factor first: POST /v1/auth/totp/enroll.',
);
const MEMBERS_ONLY = reject('role_required', 'Only members of an account may do this.');

/** Like a key: what fails counts for the address, and what is right for the user. */
const admitSession = async (
  route: Route,
  req: Request,
  res: Response,
  passage: Passage,
  options: Admission,
): Promise<Callers['anySession'] | Refusal> => {
  const caller = await authenticateSession(req, options.services);
  if (isRejection(caller)) {
    reportFailure(tokenFailureOf(req), req, options);
    return (await beyondAddressLimit('keys', req, res, options)) ?? caller;
  }
  passage.caller = caller;
  const refused = reported(await options.rateLimit(caller, route, res), caller, req, options);
  if (refused) return refused;
  const isOperator = caller.role === 'OPERATOR';
  const { operatorsNeedSecondFactor } = options.services;
  if (!passage.place.claim(isOperator ? 'operators' : caller.tenant.accountId)) return OVERLOADED;
  if (route.principal === 'operator' && !isOperator) return OPERATORS_ONLY;
  if (route.principal === 'operator' && isOperator && operatorsNeedSecondFactor && !caller.hasSecondFactor)
    return ENROL_FIRST;
  return route.principal === 'session' && isOperator ? MEMBERS_ONLY : caller;
};
