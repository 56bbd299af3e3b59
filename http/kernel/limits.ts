// Requests a minute: of each API key, and of each address without a right key: pages, readiness, and keys that are none (rule E8).

import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { requestsPerMinute, sandboxRequestsPerMinute } from '../../domain/account/settings.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf, networkOf } from './address.ts';
import type { Caller, Route } from './route.ts';

const MINUTE_MS = 60_000;

interface MinuteWindow {
  /** Everything. */
  count: number;
  /** Of those, what counts for one limit and not for another. */
  apart: number;
  /** Whether it was told that a limit was reached. */
  isTold: boolean;
  /** As `now` tells it. */
  readonly endsAt: number;
}

class MinuteWindows {
  readonly #windows: LRUCache<string, MinuteWindow>;
  readonly #now: () => number;

  /** `now` in milliseconds, from any beginning. */
  constructor(remembered: number, now: () => number = () => performance.now()) {
    this.#windows = new LRUCache({ max: remembered });
    this.#now = now;
  }

  /** A window begins with its first request and lasts a minute. */
  of(name: string): MinuteWindow {
    const now = this.#now();
    const known = this.#windows.get(name);
    if (known !== undefined && now < known.endsAt) return known;
    const fresh = { count: 0, apart: 0, isTold: false, endsAt: now + MINUTE_MS };
    this.#windows.set(name, fresh);
    return fresh;
  }

  /** Whole seconds until it ends, at least 1. */
  secondsLeft({ endsAt }: MinuteWindow): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1000));
  }
}

export interface Limited {
  readonly perMinute: number;
  /** Of its minute. */
  readonly isFirst: boolean;
  readonly rejection: Rejection;
}
/** null: within the limit. */
export type RateLimit = (caller: Caller, route: Pick<Route, 'limit'>, res: Response) => Limited | null;

/** As many keys as are remembered by their fingerprints. */
const KEYS_REMEMBERED = 10_000;

/** Headers of every request that is counted; refused when nothing is `left`. */
const judgeLeft = (
  res: Response,
  windows: MinuteWindows,
  window: MinuteWindow,
  limit: { readonly perMinute: number; readonly left: number; readonly of: string },
): Limited | null => {
  const { perMinute, left, of } = limit;
  res.setHeader('X-RateLimit-Limit-Minute', String(perMinute));
  res.setHeader('X-RateLimit-Remaining-Minute', String(Math.max(left, 0)));
  if (left >= 0) return null;
  res.setHeader('Retry-After', String(windows.secondsLeft(window)));
  const isFirst = !window.isTold;
  window.isTold = true;
  return { perMinute, isFirst, rejection: reject('rate_limited', `More than ${perMinute} requests in a minute${of}.`) };
};

/** `deploymentsPerMinute`: for accounts without a limit of their own; 0: none. Where nothing limits there are no headers either. */
export const rateLimit = (deploymentsPerMinute: number): RateLimit => {
  const windows = new MinuteWindows(KEYS_REMEMBERED);
  return ({ account, tenant, actor }, { limit }, res) => {
    const isApart = limit === 'keyApartFromSandbox';
    const agreed = requestsPerMinute(account, deploymentsPerMinute);
    const isLowered = tenant.mode === 'test' && !isApart;
    const perMinute = isLowered ? sandboxRequestsPerMinute(account, deploymentsPerMinute) : agreed;
    const window = windows.of(actor);
    window.count += 1;
    if (isApart) window.apart += 1;
    if (perMinute === 0) return null;
    const ofAgreed = agreed === 0 ? Number.POSITIVE_INFINITY : agreed - window.count;
    const left = perMinute === agreed ? ofAgreed : Math.min(ofAgreed, perMinute - window.count + window.apart);
    return judgeLeft(res, windows, window, { perMinute, left, of: '' });
  };
};

/** Each is counted by itself: whoever tries keys does not make the process look sick to who asks for its health. */
export type WithoutKey = 'keys' | 'pages' | 'readiness' | 'catalogue';

/** Of each kind. */
const PER_MINUTE = 1_200;
/** Of hostile addresses as many as one likes may come: those seen last are counted. */
const ADDRESSES_REMEMBERED = 50_000;

/** null: within the limit. */
export type AddressLimit = (
  req: Request,
  res: Response,
  of: WithoutKey,
) => (Limited & { readonly network: string }) | null;

/** `perMinute` requests of each address and kind; loopback is no exception. */
export const addressLimit = (
  perMinute: number = PER_MINUTE,
  remembered: number = ADDRESSES_REMEMBERED,
): AddressLimit => {
  const windows = new MinuteWindows(remembered);
  return (req, res, of) => {
    const address = addressOf(req);
    const window = windows.of(`${of} ${address}`);
    window.count += 1;
    if (window.count <= perMinute) return null;
    const limit = { perMinute, left: perMinute - window.count, of: ' from this address' };
    const limited = judgeLeft(res, windows, window, limit);
    return limited && { ...limited, network: networkOf(address) };
  };
};
