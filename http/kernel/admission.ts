// Who is let in: within the limits of a key or an address, and while there are places (rule E8).
import type { NextFunction, Request, Response } from 'express';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import type { AddressLimit, WithoutKey } from './addressLimit.ts';
import { authenticate, failureOf } from './authentication.ts';
import { requestIdOf, sendError } from './errors.ts';
import type { Overload, Place } from './overload.ts';
import type { RateLimit } from './rateLimit.ts';
import type { Caller, Route } from './route.ts';
import type { TellSecurityEvent } from './securityEvents.ts';
import type { Services } from './services.ts';

export interface Admission {
  readonly services: Services;
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

/** Of who asks whether the process is ready. */
export const admitProbe = (options: Admission) => (req: Request, res: Response, next: NextFunction) => {
  const refused = beyondAddressLimit('readiness', req, res, options);
  return refused ? sendError(req, res, refused) : next();
};

/** Streams last for minutes: they are counted where they are kept (http/site/statusStreams.ts). */
const STREAM = /^\/[^/]+\/events\/?$/i;

/** Pages together have the share of one account. */
export const admitPage = (options: Admission) => (req: Request, res: Response, next: NextFunction) => {
  const refused = beyondAddressLimit('pages', req, res, options);
  if (refused) return sendError(req, res, refused);
  const place = options.overload.enter();
  if (!place?.claim('pages')) {
    place?.leave();
    return sendError(req, res, OVERLOADED);
  }
  if (STREAM.test(req.path)) place.leave();
  else for (const event of ['prefinish', 'close']) res.once(event, place.leave);
  return next();
};

/** Who calls, within the limits of a key. Only what fails counts for the address: a right key is never refused for wrong ones. */
export const admit = async (
  route: Route,
  req: Request,
  res: Response,
  place: Place,
  options: Admission,
): Promise<Caller | Rejection | null> => {
  if (route.principal === 'public') return beyondAddressLimit('catalogue', req, res, options);
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
  return place.claim(caller.tenant.accountId) ? caller : OVERLOADED;
};
