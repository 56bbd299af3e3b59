// Who is let in: within the limits of a key or an address, and while there are places (rule E8).
import type { NextFunction, Request, Response } from 'express';
import { KeyedCount } from '../../application/core/keyedCount.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { ReportSecurityEvent } from '../../application/ports/securityEvents.ts';
import { requestsPerMinute, sandboxRequestsPerMinute } from '../../domain/account/rateLimits.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import type { Refusal } from './answers.ts';
import { authenticate, authenticateSession, failureOf, tokenFailureOf } from './authentication.ts';
import { type Caller, type Callers, isOfSession, type KnownCaller, type Principal } from './callers.ts';
import { isMonitor } from './health.ts';
import type { Judged, MinuteLimit, MinuteWindows } from './minuteWindows.ts';
import type { LimitClass, Route } from './route.ts';
import { requestIdOf, sendError } from './send.ts';
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

// --- Requests a minute (rule E8): of each API key and each user, of all keys of an account and mode, and of each address for requests
// without a valid key or token: logins, pages, readiness, failed authentication. All processes of a deployment count together ---

export interface Limited {
  readonly perMinute: number;
  /** Of its minute. */
  readonly isFirst: boolean;
  readonly rejection: Rejection;
}
/** null: within the limit. */
export type RateLimit = (
  caller: Caller | Callers['anySession'],
  route: Pick<Route, 'limit'>,
  res: Response,
) => Promise<Limited | null>;

/** Headers of every request that is counted; null: it is let in. */
const limitedBy = (res: Response, judged: Judged, perMinute: number, of: string): Limited | null => {
  res.setHeader('X-RateLimit-Limit-Minute', String(perMinute));
  res.setHeader('X-RateLimit-Remaining-Minute', String(judged.left));
  if (judged.isIn) return null;
  res.setHeader('Retry-After', String(judged.secondsLeft));
  const rejection = reject('rate_limited', `More than ${perMinute} requests in a minute${of}.`);
  return { perMinute, isFirst: judged.isFirst, rejection };
};

const stricter = (a: Judged, b: Judged): Judged => (!a.isIn || (b.isIn && a.left <= b.left) ? a : b);

/** Below 300 a minute a limit is exact, however many processes there are; above each of them may let in a third of a percent more. */
const CREDIT_OF_KEY = 1 / 300;
const limitOf = (perMinute: number, credit: number): MinuteLimit => ({
  perMinute,
  credit: Math.floor(perMinute * credit),
});

/** An account's keys of a mode together, as a multiple of what one may have: whoever issues one key after the other has no more. */
const KEYS_OF_ACCOUNT = 10;

/**
 * `deploymentsPerMinute`: for accounts without a limit of their own; 0: none. Where nothing limits there are no headers either: no number
 * would be true.
 */
export const rateLimit =
  (windows: MinuteWindows, deploymentsPerMinute: number): RateLimit =>
  async (caller, { limit }, res) => {
    const { actor } = caller;
    // An operator of the platform has the deployment's limit.
    const account = 'account' in caller ? caller.account : null;
    const tenant = 'tenant' in caller ? caller.tenant : null;
    const agreed = account === null ? deploymentsPerMinute : requestsPerMinute(account, deploymentsPerMinute);
    const isOfSandbox = account !== null && tenant?.mode === 'test' && limit !== 'keyApartFromSandbox';
    const perMinute = isOfSandbox ? sandboxRequestsPerMinute(account, deploymentsPerMinute) : agreed;
    // Both count every request, whatever limits at the moment: another limit may begin in the middle of a minute.
    const ofKey = windows.count(actor, limitOf(agreed, CREDIT_OF_KEY));
    const ofSandbox = isOfSandbox
      ? windows.count(`sandbox ${actor}`, limitOf(perMinute === agreed ? 0 : perMinute, CREDIT_OF_KEY))
      : null;
    const byKey = await ofKey;
    const bySandbox = await ofSandbox;
    if (perMinute === 0) return null;
    const judged = bySandbox === null ? byKey : stricter(byKey, bySandbox);
    const limited = limitedBy(res, limit === 'logOut' ? { ...judged, isIn: true } : judged, perMinute, '');
    if (limited !== null || agreed === 0 || tenant === null || limit === 'user' || limit === 'logOut') return limited;
    const ofAccount = KEYS_OF_ACCOUNT * agreed;
    const name = `account ${tenant.accountId} ${tenant.mode}`;
    const byAccount = await windows.count(name, limitOf(ofAccount, CREDIT_OF_KEY));
    return byAccount.isIn ? null : limitedBy(res, byAccount, ofAccount, ' by the keys of this account');
  };

/** Each is counted by itself: whoever tries keys does not make the process look sick to who asks for its health. */
export type WithoutKey = 'keys' | 'pages' | 'readiness' | 'catalogue' | 'login';

/** Requests a minute of an address: of each kind but logins, and logins (rule E8). 0: any number. */
export interface AddressLimits {
  readonly perMinute: number;
  readonly loginsPerMinute: number;
}
const ADDRESS_LIMITS: AddressLimits = { perMinute: 1_200, loginsPerMinute: 20 };
/** Most addresses ask less often than this share of a limit in a minute, of each process: they are not counted with other processes. */
const CREDIT_OF_ADDRESS = 1 / 60;

/** null: within the limit. */
export type AddressLimit = (
  req: Request,
  res: Response,
  of: WithoutKey,
) => Promise<(Limited & { readonly network: string }) | null>;

/** So many requests of each address and kind; loopback is no exception. */
export const addressLimit = (windows: MinuteWindows, limits: Partial<AddressLimits> = {}): AddressLimit => {
  const { perMinute, loginsPerMinute } = { ...ADDRESS_LIMITS, ...limits };
  const ofLogin = limitOf(loginsPerMinute, 0);
  const ofEach = limitOf(perMinute, CREDIT_OF_ADDRESS);
  return async (req, res, of) => {
    const limit = of === 'login' ? ofLogin : ofEach;
    const address = addressOf(req);
    const judged = await windows.count(`${of} ${address}`, limit);
    if (judged.isIn) return null;
    const limited = limitedBy(res, judged, limit.perMinute, ' from this address');
    return limited && { ...limited, network: networkOf(address) };
  };
};

// --- Proxies. The bound of connections can't hold behind one, because its connections carry all clients. Without TRUST_PROXY their headers
// are not believed: all clients behind a proxy count as one address, and the security log says so ---

/** As many as a client without a proxy has connections. */
export const IN_FLIGHT_MAX = 256;

/** Refuses more than `max` requests in flight of one address. A request counts until its answer ends, with streams and slow bodies. */
export const boundInFlight = (max: number) => {
  const inFlight = new KeyedCount();
  return (req: Request, res: Response, next: NextFunction): void => {
    const address = addressOf(req);
    if (inFlight.of(address) >= max) return void sendError(req, res, OVERLOADED);
    res.once('close', inFlight.add(address));
    next();
  };
};

const FORWARDING = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
  'via',
] as const;

/** Reports the first header of a proxy, once. */
export const warnOfForwarding = (report: ReportSecurityEvent) => {
  let isReported = false;
  return (req: Request, _res: Response, next: NextFunction): void => {
    const header = isReported ? undefined : FORWARDING.find((name) => req.headers[name] !== undefined);
    if (header !== undefined) {
      isReported = true;
      report({ security: 'forwarding_header_untrusted', header });
    }
    next();
  };
};

// --- Overload is refused (503 with Retry-After) before it makes everything slow: too many requests in progress, or an event loop that is
// late. One account's requests do not take the places of the others ---

export const OVERLOAD: OverloadOptions = { requestsMax: 512, lagMsMax: 1_000 };

export interface OverloadOptions {
  /** From so many requests in progress; twice as many are never let in. Waiting for a client's bytes is no progress. */
  readonly requestsMax: number;
  /** From so much lag of the event loop that lasts. */
  readonly lagMsMax: number;
}

const SAMPLE_MS = 100;
/** In progress at most, as a multiple of `requestsMax`, when accounts with few requests are let in beside one with many. */
const HARD_FACTOR = 2;

/** The place of one request. */
export interface Place {
  /** Counts it for its account. false: the account has its share of the places already, and there are none left. */
  claim(account: string): boolean;
  /**
   * While a request waits, for its client to send the body or for its turn, it is not in progress: however long that takes, no other
   * request is refused for it. It may wait for several things at once.
   */
  waiting<T>(sent: Promise<T>): Promise<T>;
  /** Once or more often. */
  leave(): void;
}

/** Of a request that is answered however many are in progress. */
export const UNCOUNTED: Place = { claim: () => true, waiting: (sent) => sent, leave: () => undefined };

export class Overload {
  readonly #options: OverloadOptions;
  readonly #now: () => number;
  readonly #sampling: Repeating;
  readonly #ofAccount = new Map<string, number>();
  #inProgress = 0;
  #sampledAt: number;
  /** Of the last two samples: a process that was stopped for a moment is not overloaded. */
  #lags: readonly [number, number] = [0, 0];

  constructor(options: OverloadOptions = OVERLOAD, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
    this.#sampledAt = now();
    this.#sampling = repeating(SAMPLE_MS, () => this.sample());
  }

  /** The lag since the last sample; called by a timer. */
  sample(): void {
    const now = this.#now();
    this.#lags = [this.#lags[1], now - this.#sampledAt - SAMPLE_MS];
    this.#sampledAt = now;
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  close(): void {
    void this.#sampling.stop();
  }

  /** null: there is no place, whoever asks. */
  enter(): Place | null {
    const { requestsMax, lagMsMax } = this.#options;
    if (Math.min(...this.#lags) >= lagMsMax || this.#inProgress >= HARD_FACTOR * requestsMax) return null;
    this.#inProgress += 1;
    let account: string | null = null;
    let isIn = true;
    let waits = 0;
    return {
      claim: (of) => {
        const own = this.#ofAccount.get(of) ?? 0;
        if (!this.#mayHaveOneMore(own)) return false;
        account = of;
        this.#ofAccount.set(of, own + 1);
        return true;
      },
      waiting: async (sent) => {
        waits += 1;
        if (waits === 1) this.#inProgress -= 1;
        try {
          return await sent;
        } finally {
          waits -= 1;
          if (waits === 0) this.#inProgress += 1;
        }
      },
      leave: () => {
        if (!isIn) return;
        isIn = false;
        this.#inProgress -= 1;
        if (account !== null) this.#release(account);
      },
    };
  }

  /** Beyond `requestsMax` those are let in that have less than an even share. The asking request itself is in progress already. */
  #mayHaveOneMore(own: number): boolean {
    const { requestsMax } = this.#options;
    if (this.#inProgress <= requestsMax) return true;
    return own * this.#ofAccount.size < requestsMax;
  }

  #release(account: string): void {
    const left = (this.#ofAccount.get(account) ?? 1) - 1;
    if (left === 0) this.#ofAccount.delete(account);
    else this.#ofAccount.set(account, left);
  }
}
