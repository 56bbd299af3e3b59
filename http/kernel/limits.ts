// Requests a minute: of each API key and each user, of all keys of an account and mode, and of each address without either: logins, pages,
// readiness, and keys and tokens that are none (rule E8). All processes of a deployment count together.

import type { Request, Response } from 'express';
import { requestsPerMinute, sandboxRequestsPerMinute } from '../../domain/account/rateLimits.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import type { Caller, Callers } from './callers.ts';
import type { Judged, MinuteLimit, MinuteWindows } from './minuteWindows.ts';
import type { Route } from './route.ts';

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
