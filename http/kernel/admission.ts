// Who is let in: within the limits of a key or an address, and while there are places (rule E8).
import type { Request, Response } from 'express';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import { authenticate, failureOf } from './authentication.ts';
import { requestIdOf } from './errors.ts';
import { isOperator } from './health.ts';
import type { AddressLimit, RateLimit, WithoutKey } from './limits.ts';
import type { Overload, Place } from './overload.ts';
import type { Caller, Callers, Principal, Route } from './route.ts';
import type { TellSecurityEvent } from './securityEvents.ts';
import type { AppServices } from './services.ts';

export interface Admission {
  readonly services: AppServices;
  /** Who calls, of the principals that this kernel knows no credential of. */
  readonly authenticators?: {
    readonly [Who in 'session' | 'provider']?: (req: Request) => Promise<Callers[Who] | Rejection>;
  };
  readonly rateLimit: RateLimit;
  readonly addressLimit: AddressLimit;
  readonly overload: Overload;
  readonly onSecurityEvent: TellSecurityEvent;
}

export const OVERLOADED = reject('service_unavailable', 'Too many requests at once. Repeat this one a little later.');

const beyondAddressLimit = (
  of: WithoutKey,
  req: Request,
  res: Response,
  { addressLimit, onSecurityEvent }: Admission,
): Rejection | null => {
  const limited = addressLimit(req, res, of);
  if (limited === null) return null;
  const { perMinute, network, isFirst, rejection } = limited;
  if (isFirst) onSecurityEvent({ security: 'rate_limited', of, perMinute, network, requestId: requestIdOf(req) });
  return rejection;
};

const LIVE_KEY = reject('mode_not_allowed', 'Sandbox routes take test keys only.');
const NO_ROUTE = reject('not_found', 'There is no such route.');

/** Whether a request takes a place among those in progress: what does not is answered however busy the process is. */
export const takesPlace = ({ limit }: Pick<Route, 'limit'>): boolean => limit !== 'readiness' && limit !== 'unlimited';

/** Returns who calls, when it is whom the route asks for and within the limits of the key or the address. */
export const admit = async (
  route: Route,
  req: Request,
  res: Response,
  place: Place,
  options: Admission,
): Promise<Callers[Principal] | Rejection> => {
  const { principal, limit } = route;
  if (principal === 'apiKey' || principal === 'testKey') return admitKey(route, req, res, place, options);
  const ofAddress = limit === 'pages' || limit === 'catalogue' || limit === 'readiness' ? limit : null;
  const limited = ofAddress && beyondAddressLimit(ofAddress, req, res, options);
  if (limited) return limited;
  // Pages together have the share of one account.
  if (limit === 'pages' && !place.claim('pages')) return OVERLOADED;
  if (principal === 'public') return null;
  if (principal === 'operator') return isOperator(req, options.services.operations) ? null : NO_ROUTE;
  const identify = options.authenticators?.[principal];
  return identify === undefined ? NO_ROUTE : identify(req);
};

/** Only what fails counts for the address: a right key is never refused for wrong ones. */
const admitKey = async (
  route: Route,
  req: Request,
  res: Response,
  place: Place,
  options: Admission,
): Promise<Caller | Rejection> => {
  const { services, rateLimit, onSecurityEvent } = options;
  const requestId = requestIdOf(req);
  const caller = await authenticate(req, services);
  if (isRejection(caller)) {
    const network = networkOf(addressOf(req));
    onSecurityEvent({ security: 'authentication_failed', reason: failureOf(req), network, requestId });
    return beyondAddressLimit('keys', req, res, options) ?? caller;
  }
  const limited = rateLimit(caller, route, res);
  if (limited) {
    const { perMinute, isFirst, rejection } = limited;
    if (isFirst) onSecurityEvent({ security: 'rate_limited', perMinute, actor: caller.actor, requestId });
    return rejection;
  }
  if (!place.claim(caller.tenant.accountId)) return OVERLOADED;
  return route.principal === 'testKey' && caller.tenant.mode !== 'test' ? LIVE_KEY : caller;
};
